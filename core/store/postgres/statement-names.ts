/** What a connection keeps planned takes memory there; lists come in many lengths. */
const mostNamed = 200

/** A name for each of the first statements, by which the database keeps its plan: reading and planning one takes longer than doing it. */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= mostNamed) return known
    const name = `sluice-${names.size}`
    names.set(text, name)
    return name
  }
}
