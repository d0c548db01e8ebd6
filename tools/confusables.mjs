// Makes core/live-state/confusables.json of Unicode's list: node tools/confusables.mjs <confusables.txt>
// https://www.unicode.org/Public/security/latest/confusables.txt, UTS #39. Characters that NFKC changes are left out: symbols are brought into
// that form first.
import { readFileSync, writeFileSync } from 'node:fs'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Name the file confusables.txt.')
const text = readFileSync(file, 'utf8')
const version = /^# Version: (\S+)/m.exec(text)?.[1]
const charactersOf = (points) =>
  String.fromCodePoint(
    ...points
      .trim()
      .split(/\s+/)
      .map((point) => Number.parseInt(point, 16)),
  )
const looks = {}
for (const [, from, to] of text.matchAll(/^([0-9A-F]+)\s*;\s*([0-9A-F ]+?)\s*;\s*MA/gm)) {
  const [character, look] = [charactersOf(from), charactersOf(to)]
  if (character.normalize('NFKC') !== character) continue
  looks[look] = (looks[look] ?? '') + character
}
const about = {
  source: `https://www.unicode.org/Public/security/${version}/confusables.txt`,
  version,
  license: 'Unicode-3.0, https://www.unicode.org/license.txt',
  copyright: /^# (©.*)$/m.exec(text)?.[1],
}
writeFileSync(new URL('../core/live-state/confusables.json', import.meta.url), `${JSON.stringify({ ...about, looks }, null, 1)}\n`)
