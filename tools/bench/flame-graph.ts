import type { Profiler } from 'node:inspector'

interface Frame {
  readonly name: string
  readonly file: string
  micros: number
  readonly called: Map<string, Frame>
}

const [width, rowHeight, headHeight, charWidth] = [1200, 16, 40, 6.3]
/** What is narrower is not drawn. */
const leastPixels = 3
/** By the file that a function is of; the first that fits. */
const colours: readonly (readonly [RegExp, string, string])[] = [
  [/\/core\/|\/plugins\//, '#f4a261', 'Sluice'],
  [/node_modules\//, '#8ecae6', 'packages'],
  [/^node:/, '#cbd5c0', 'Node'],
  [/^/, '#e5989b', 'V8, system calls'],
]

/** A profile as an SVG: as wide as it took, callers below what they called. Beside that nothing ran. */
export function flameGraph(profile: Profiler.Profile, title: string): string {
  const all = framesOf(profile)
  const scale = width / all.micros
  const boxes: string[] = []
  let deepest = 0
  const draw = (frame: Frame, left: number, depth: number): void => {
    const pixels = frame.micros * scale
    if (pixels < leastPixels) return
    deepest = Math.max(deepest, depth)
    boxes.push(box(frame, left, depth, pixels, frame.micros / all.micros))
    let next = left
    for (const each of [...frame.called.values()].toSorted((a, b) => b.micros - a.micros)) {
      draw(each, next, depth + 1)
      next += each.micros * scale
    }
  }
  let left = 0
  for (const each of [...all.called.values()].toSorted((a, b) => b.micros - a.micros)) {
    draw(each, left, 0)
    left += each.micros * scale
  }
  const height = headHeight + (deepest + 1) * rowHeight
  const legend = colours.map(
    ([, colour, who], index) =>
      `<rect x="${index * 140}" y="22" width="12" height="12" fill="${colour}"/><text x="${index * 140 + 17}" y="32">${who}</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="10.5">`,
    `<rect width="${width}" height="${height}" fill="#fff"/><text x="0" y="13" font-size="13">${escaped(title)}</text>${legend.join('')}`,
    // Rows are counted from the bottom.
    `<g transform="translate(0 ${height - rowHeight})">`,
    ...boxes,
    '</g></svg>\n',
  ].join('\n')
}

function box({ name, file }: Frame, left: number, depth: number, pixels: number, part: number): string {
  const fill = colours.find(([of]) => of.test(file))?.[1] ?? ''
  const chars = Math.floor((pixels - 4) / charWidth)
  const label = chars < 3 ? '' : name.length > chars ? `${name.slice(0, chars - 1)}…` : name
  const [x, y] = [left.toFixed(1), -depth * rowHeight]
  const shape = `<rect x="${x}" y="${y}" width="${(pixels - 0.5).toFixed(1)}" height="${rowHeight - 1}" fill="${fill}"/>`
  const text = label && `<text x="${(left + 2).toFixed(1)}" y="${y + 11}">${escaped(label)}</text>`
  return `<g><title>${escaped(`${name} ${file}: ${(100 * part).toFixed(1)} %`.trim())}</title>${shape}${text}</g>`
}

/** All that ran, by who called it. */
function framesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const all: Frame = { name: '', file: '', micros: 0, called: new Map() }
  for (const [index, sample] of samples.entries()) {
    const stack: Profiler.ProfileNode['callFrame'][] = []
    for (let node = byId.get(sample); node; node = byId.get(callers.get(node.id) ?? -1)) stack.unshift(node.callFrame)
    if (/^\((idle|root)\)$/.test(stack.at(-1)?.functionName ?? '(root)')) continue
    const micros = timeDeltas[index] ?? 0
    all.micros += micros
    let frame = all
    for (const { functionName, url } of stack.slice(1)) {
      const file = url.replace(/^.*?\/(?=(core|plugins|node_modules|test)\/)/, '')
      const name = functionName || '(anonymous)'
      const known = frame.called.get(`${name} ${file}`) ?? {
        name,
        file: file && `${file.startsWith('node:') ? '' : '/'}${file}`,
        micros: 0,
        called: new Map(),
      }
      frame.called.set(`${name} ${file}`, known)
      known.micros += micros
      frame = known
    }
  }
  return all
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
