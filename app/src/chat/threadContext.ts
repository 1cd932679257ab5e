import { createContext, useContext } from 'react'

/** The thread whose messages are shown. */
export const ThreadContext = createContext('')
export const useThread = () => useContext(ThreadContext)
