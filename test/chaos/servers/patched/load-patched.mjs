// A module hook: serves the changed source of some files.
let sources = new Map()

export function initialize(data) {
  sources = new Map(data.sources)
}

export async function load(url, context, nextLoad) {
  const source = sources.get(url)
  return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true }
}
