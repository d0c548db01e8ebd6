/** What a database's error means for whoever wrote or read. */
export interface Fault {
  /** A clause without secrets. */
  reason: string
  /** Where it came as a commit was under way: whether that may have been kept all the same. */
  leavesCommitOpen: boolean
}

/** What the two kinds of database say of their errors. */
export interface Faults {
  /** Undefined for what is no trouble of the database, but of who asked. */
  of(error: unknown): Fault | undefined
  /** Two got in each other's way, and one of them was undone: to be run again. */
  isCollision(error: unknown): boolean
}
