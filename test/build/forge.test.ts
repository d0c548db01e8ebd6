import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { packageJson } from '../docs/package-json.ts'
import { readPage, root } from '../docs/page.ts'

const folder = '.github/workflows'

interface Job {
  permissions?: Record<string, string>
  steps?: readonly { uses?: string; run?: string }[]
}

interface Workflow {
  name: string
  text: string
  permissions: unknown
  jobs: Record<string, Job>
}

describe('the files for a forge', () => {
  let workflows: readonly Workflow[]
  before(async () => {
    const names = await readdir(path.join(root, folder))
    workflows = await Promise.all(
      names.map(async (name) => {
        const text = await readPage(`${folder}/${name}`)
        return { ...parse(text), name, text }
      }),
    )
  })

  it('use actions of others by commit, with the version beside it', () => {
    const uses = workflows.flatMap(({ text }) => text.match(/uses: .*/g) ?? []).filter((line) => !line.includes('uses: ./'))
    expect(uses).to.not.have.length(0)
    expect(uses.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).to.deep.equal([])
  })

  it('let a job read, and write only where a release is made', () => {
    for (const { name, permissions } of workflows) expect(permissions, name).to.deep.equal({ contents: 'read' })
    const writers = workflows.flatMap(({ name, jobs }) =>
      Object.entries(jobs).flatMap(([job, { permissions }]) => (permissions ? [[name, job, permissions]] : [])),
    )
    expect(writers).to.deep.equal([['release.yml', 'release', { contents: 'write' }]])
  })

  it('run scripts that are there', async () => {
    const { scripts } = await packageJson()
    const runs = workflows.flatMap(({ jobs }) => Object.values(jobs).flatMap(({ steps = [] }) => steps.map(({ run }) => run ?? '')))
    const named = runs.flatMap((run) => [...run.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, script = '']) => script))
    const programs = runs.flatMap((run) => run.match(/(?<=^| )(?:\.ci|tools)\/[\w.-]+/g) ?? [])
    expect(scripts).to.include.keys(named)
    expect(programs).to.include('.ci/run')
    expect(programs.filter((file) => !existsSync(path.join(root, file)))).to.deep.equal([])
  })

  it('ask for reviews of files and folders that are there', async () => {
    const lines = (await readPage('.github/CODEOWNERS')).split('\n').filter((line) => line.startsWith('/'))
    expect(lines.map((line) => line.split(' ')[0] ?? '').filter((file) => !existsSync(path.join(root, file)))).to.deep.equal([])
  })
})
