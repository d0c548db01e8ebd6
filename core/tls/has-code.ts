/** Whether an error carries this code, as those of the file system do (`ENOENT`). */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
