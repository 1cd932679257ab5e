// Counts the journeys that passed only when they were tried again: a few are a busy machine, more are journeys that fail.
import { appendFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** So many may need another try. */
const AT_MOST = 3

export default class Retried implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (test.diagnostic()?.flaky) names.push(`${module.relativeModuleId}: ${test.fullName}`)
      }
    }
    if (names.length === 0) return
    const told = `PASSED ONLY WHEN TRIED AGAIN: ${names.length} of the journeys\n${names.map((name) => `  ${name}\n`).join('')}`
    process.stderr.write(`\n${told}`)
    if (process.env.LEFT_OUT) appendFileSync(process.env.LEFT_OUT, told)
    if (names.length > AT_MOST) {
      process.stderr.write(`More than ${AT_MOST} need another try: mend them, or try on a machine that is less busy.\n`)
      process.exitCode = 1
    }
  }
}
