import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { readPage, root } from './page.ts'

describe('the links between pages', () => {
  it('lead to files and headings that are there', async () => {
    const pages = [
      ...(await readdir(root)).filter((name) => name.endsWith('.md')),
      ...(await readdir(path.join(root, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
    ]
    const broken: string[] = []
    for (const page of pages) {
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
