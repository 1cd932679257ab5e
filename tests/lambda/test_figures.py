"""Lists and figures of the operator's documents, held against the code that they are about."""

import re
import unittest

from deployment import TOP
from stack import template


def text(path):
    return (TOP / path).read_text()


class Reasons(unittest.TestCase):
    def test_the_document_knows_which_reasons_are_no_fault(self):
        run = text("shared/protocol/src/run.rs")
        codes = dict(re.findall(r'EndReason::(\w+) => "(\w+)"', run))
        no_fault = run.split("pub fn is_fault")[1].split("=> false")[0]
        wanted = {codes[name] for name in re.findall(r"EndReason::(\w+)", no_fault)}
        section = text("docs/operate.md").split("## Why runs fail")[1].split("\n## ")[0]
        rows = [row for row in section.splitlines() if row.startswith("| `")]
        named = lambda part: set(re.findall(r"`(\w+)`", part))
        self.assertEqual(set().union(*(named(row.split(" | ")[0]) for row in rows)), set(codes.values()))
        left_out = section.split("`FailedRunsAlarm` counts")[1]
        self.assertEqual(named(rows[-1].split(" | ")[0]) | named(left_out), wanted)


class Limits(unittest.TestCase):
    def test_every_limit_is_a_parameter_and_a_variable(self):
        section = text("docs/operate.md").split("\n## Limits")[1].split("\n## ")[0]
        cells = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `")]
        sam = template()
        variables = sam["Globals"]["Function"]["Environment"]["Variables"]
        self.assertGreater(len(cells), 4)
        for cell in cells:
            [parameter, variable] = re.findall(r"`(\w+)`", cell)
            self.assertIn(parameter, sam["Parameters"])
            self.assertEqual(variables[variable], {"Ref": parameter})


class Tools(unittest.TestCase):
    def test_the_documents_know_which_node_the_scripts_take(self):
        [wanted] = set(re.findall(r"-ge (\d+) ", text("scripts/node.sh")))
        for document in ("docs/deploy.md", "app/README.md"):
            told = " ".join(text(document).split())
            self.assertIn(f"Node {wanted} or newer, or any npm, with which the scripts fetch one", told)
            self.assertEqual(set(re.findall(r"Node (\d+)", told)), {wanted}, document)


class Cost(unittest.TestCase):
    """The turn of docs/deploy.md, computed anew from the prices and times that it is said to be made of."""

    def setUp(self):
        self.text = text("docs/deploy.md")
        config = text("shared/runs/src/config.rs")
        ms = lambda field: int(re.search(rf"{field}: ms\(([\d_]+)\)", config)[1])
        [fixed] = re.findall(r"\| write units of a turn with five calls .*? \| (\d+) \|", text("docs/performance.md"))
        self.fixed, self.flush, self.heartbeat = int(fixed), ms("flush_interval"), ms("heartbeat")

    def price(self, pattern):
        return float(re.search(pattern, self.text)[1])

    def turn(self, seconds, flush):
        frames, heartbeats = seconds * 1000 // flush, seconds * 1000 // self.heartbeat * 2
        writes = self.fixed + frames + heartbeats
        reads = round(seconds * 10.7)
        dollars = writes * self.price(r"\$([\d.]+) per million write units") / 1e6
        dollars += reads * self.price(r"\$([\d.]+) per million read units") / 1e6
        dollars += seconds * 2 * 0.5 * self.price(r"\$([\d.]+) per GB-second")
        dollars += 2 * self.price(r"\$([\d.]+) per million requests") / 1e6
        return f"{self.fixed} + {frames} + {heartbeats} = {writes} units", reads, 1000 * dollars

    def test_a_turn(self):
        units, reads, thousand = self.turn(40, self.flush)
        self.assertIn(f"| writes | {units}, ", self.text)
        self.assertIn(f"| reads | {reads} units, ", self.text)
        self.assertIn(f"1,000 turns cost ${thousand:.2f}, and", self.text)
        units, _, thousand = self.turn(40, 250)
        self.assertIn(f"{units}, and 1,000 turns cost ${thousand:.2f}.", self.text)


if __name__ == "__main__":
    unittest.main()
