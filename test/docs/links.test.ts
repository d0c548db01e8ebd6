import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { readPage, root } from './page.ts'

const pagesOf = async () => [
  ...(await readdir(root)).filter((name) => name.endsWith('.md')),
  ...(await readdir(path.join(root, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
]

describe('the links between pages', () => {
  it('lead to files and headings that are there', async () => {
    const broken: string[] = []
    for (const page of await pagesOf()) {
      for (const target of linksOf(await readPage(page))) {
        const [file = '', heading] = target.split('#')
        const place = file === '' ? page : path.join(path.dirname(page), file)
        if (!existsSync(path.join(root, place))) broken.push(`${page}: ${target}`)
        else if (heading !== undefined && !headingsOf(await readPage(place)).includes(heading))
          broken.push(`${page}: ${target} (no such heading)`)
      }
    }
    expect(broken).to.deep.equal([])
  })

  it('lead, in the package, to files that it has, or to sources', async () => {
    const { files }: { files: string[] } = JSON.parse(await readPage('package.json'))
    // npm packs them whatever the manifest says.
    const packed = [...files, 'README.md', 'LICENSE', 'package.json']
    const isPacked = (file: string) => packed.some((each) => file === each || file.startsWith(`${each}/`))
    const isSource = (file: string) => /^(core|kits|plugins|test|testkit|tools)(\/|$)/.test(file)
    const missing: string[] = []
    for (const page of await pagesOf())
      for (const target of linksOf(await readPage(page))) {
        const [file = ''] = target.split('#')
        const place = path.join(path.dirname(page), file)
        if (isPacked(page) && file !== '' && !isPacked(place) && !isSource(place)) missing.push(`${page}: ${target}`)
      }
    expect(missing).to.deep.equal([])
  })
})

const withoutCode = (markdown: string) => markdown.replaceAll(/^ *```[^]*?^ *```/gm, '')

const linksOf = (markdown: string): string[] =>
  [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target))

/** As they are named in links: lower case, without marks, spaces as hyphens. */
const headingsOf = (markdown: string): string[] =>
  [...withoutCode(markdown).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
