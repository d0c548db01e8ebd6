import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { program } from '../../core/cli/program.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Where what is written is no command to type, or is read where another one is: the reason stands beside it. */
const plain = [
  'core/config/lock.ts: # Written by \\`sluice plugin allow|trust|remove\\`. A plugin that is not here, or has other bytes, is not run.',
  "core/cli/doctor-store.ts: const lock = lockStore(dataDir, 'sluice doctor')",
  "core/cli/signer.ts: return lockStore(dataDir, 'sluice signer')",
  'core/devnet/build-state.ts: return id(`sluice devnet: ${pluginName}`)',
  // Bots show it, which may run where Sluice is not.
  "plugins/hummingbot/wallets.ts: 'Wallets are removed on the server: sluice wallet remove <address>',",
  "plugins/hummingbot/wallets.ts: 'This server takes no private keys over the network: what was sent is not stored. Type on the server, for each chain that the wallet trades on: sluice wallet add --chain <chain>. Then give its address to this client in conf/clients.yml, and restart the server.'",
  "kits/oasis/devnet.ts: const trader = new Wallet(hashOf('sluice devnet: another trader')).address",
]

describe('what people are told to type', () => {
  it('names the command as it is here, bin/sluice in a checkout, in every message of the server', async () => {
    const names = (await program([])).commands.map((each) => each.name()).join('|')
    const told = ['core', 'kits', 'plugins', 'testkit'].flatMap((folder) =>
      sourcesIn(folder).flatMap((file) =>
        readFileSync(path.join(root, file), 'utf8')
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => !/^(\/\/|\/?\*)/.test(line) && new RegExp(`(^|[^/])\\bsluice (${names})\\b`).test(line))
          .map((line) => `${file}: ${line}`),
      ),
    )
    expect(told).to.have.members(plain)
  })

  it('names bin/sluice in the help of every command', async () => {
    const all = await program([])
    const commands = all.commands.flatMap((each) => [each, ...each.commands])
    expect(commands).to.have.length.above(20)
    for (const each of [all, ...commands]) expect(each.helpInformation()).to.match(/^Usage: bin\/sluice /)
  })
})

function sourcesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.split(path.sep).includes('node_modules'))
    .map((name) => path.join(folder, name))
}
