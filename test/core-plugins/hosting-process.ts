// A process like the server's, for tests: loads the contained fixture, and others, says how, and ends.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { examineContainment } from '../../core/cli/doctor.ts'
import { examinePlugin } from '../../core/plugins/consent/examine.ts'
import { findPlugins } from '../../core/plugins/discover/find.ts'
import { createHosts } from '../../core/plugins/isolate/hosts.ts'
import { builtInPlugins } from '../../core/base/layout.ts'
import { fixtures, keptLog, load } from './fixtures.ts'

const [accept, hostSocket = '', givenDataDir = '', ...others] = process.argv.slice(2)
const ownDataDir = mkdtempSync(path.join(tmpdir(), 'sluice-hosting-'))
const dataDir = givenDataDir === '' ? ownDataDir : givenDataDir
const { log, lines } = keptLog()
const budget = { processorMs: 60_000, clockMs: 60_000 }
const market = { staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 30, checkSeconds: 10, cachedQuotes: 100 }
const containment = {
  plugins: { weakContainment: accept === 'weak', ...(hostSocket !== '' && { hostSocket }) },
  data: { dir: dataDir },
}
const hosts = createHosts({
  budget,
  market,
  stallSeconds: 60,
  containment,
  logOf: () => log,
  webOf: () => ({ named: [], configured: [] }),
  onFault: () => {},
  onDeath: () => {},
})
const folders = [path.join(builtInPlugins, 'ethereum'), path.join(fixtures, 'contained', 'plain-swap'), ...others]
const { loaded, refused } = await load(folders, {
  hosts,
  budget,
})
await hosts.stop()
const [connector] = loaded.filter(({ kind }) => kind === 'connector')
const doctor = await examineContainment(loaded.length > 1 ? loaded : [{ name: 'plain-swap', tier: 'contained' }], containment)
const [chain, plugin] = findPlugins(folders, []).found
const examined =
  accept === 'examine' && chain && plugin
    ? await examinePlugin(
        { plugin, chains: [chain], budget, conf: {}, holders: {} },
        { tier: 'contained', sha256: '0'.repeat(64) },
        containment,
      )
    : undefined
process.stdout.write(
  JSON.stringify({
    examined: examined && Object.keys(examined.networks),
    loaded: connector && { name: connector.name, inHost: connector.host !== undefined },
    refused: refused.map(({ name, step, reason, remedy }) => ({ name, step, reason, remedy })),
    doctor: doctor.map(({ state, what }) => ({ state, what })),
    warnings: lines.filter(({ level }) => level === 'warn').map(({ message }) => message),
    containedBy: lines.flatMap(({ fields }) => ('containedBy' in fields ? [fields.containedBy] : [])),
  }),
)
rmSync(ownDataDir, { recursive: true })
process.exit(0)
