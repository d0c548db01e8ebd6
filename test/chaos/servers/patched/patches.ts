/** An exact text of a source file, and what stands there instead. */
export interface Patch {
  file: string
  find: string
  put: string
}

export const patches: Readonly<Record<string, readonly Patch[]>> = {}

/** Where a server may be told to die: before and after each durable step. */
export const points: readonly string[] = []
