import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fetchProgram } from '../../../core/devnet/fetch-program.ts'
import pinned from '../../../core/devnet/solana-programs.json' with { type: 'json' }
import { emptyFolder, removeFolders } from '../../../test/tls/certificates.ts'
import { addRealProgram, programsVariable, realProgram } from '../programs/real.ts'
import { startSolana } from '../start-solana.ts'

const names = Object.keys(pinned) as (keyof typeof pinned)[]

describe('real programs', () => {
  after(removeFolders)

  it('are left out with what to do where no folder has them, or other bytes', async () => {
    const folder = await emptyFolder()
    const missing = () => names.map((name) => Reflect.get(realProgram(name, folder), 'missing') as string)
    for (const each of missing()) expect(each).to.contain('is missing: sluice devnet programs fetch')
    for (const name of names) writeFileSync(path.join(folder, `${name}.so`), 'other bytes')
    for (const each of missing()) expect(each).to.contain('has another sha256 than')
    expect(realProgram('cp_amm', '')).to.have.property('missing').which.contains(programsVariable)
  })

  it('are taken from a node that runs them as they were put there', async function () {
    const absent = names.map((name) => realProgram(name)).find((each) => 'missing' in each)
    if (absent) {
      console.log(`      ${absent.missing}`)
      this.skip()
    }
    const solana = await startSolana({ slotMs: 'by hand' })
    try {
      for (const name of names) addRealProgram(solana.svm, name)
      solana.blocks(40)
      for (const name of names) expect((await fetchProgram(solana.url, pinned[name].id)).sha256).to.equal(pinned[name].sha256)
    } finally {
      await solana.stop()
    }
  })
})
