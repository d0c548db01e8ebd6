import type { Settings } from '../config/settings.ts'
import { keystoreHasKeys, listWallets } from '../wallet/keystore.ts'
import type { Finding } from './finding.ts'

const part = 'keystore'

export function examineKeystore({ data, wallet }: Settings): Finding[] {
  const wallets = listWallets(data.dir)
  if (wallets.length === 0) return [{ part, state: 'good', what: 'No keys of your own; add one with `bin/sluice wallet add`.' }]
  const findings = wallets.map(({ chain, address, problem }): Finding =>
    problem === undefined ? { part, state: 'good', what: `${chain} ${address}` } : { part, state: 'bad', what: problem },
  )
  if (keystoreHasKeys(data.dir) && wallet.passphraseFile === undefined) {
    findings.push({
      part,
      state: 'warn',
      what: 'The passphrase is asked for at each start: no file holds it.',
      cure: 'For unattended starts write it into a file (mode 600) and name that in SLUICE_WALLET_PASSPHRASE_FILE.',
    })
  }
  return findings
}
