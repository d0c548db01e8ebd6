// Addresses of settings that are none of EVM chains: each closes what it would have opened.
import path from 'node:path'
import { curves } from '../keys/curves.ts'
import type { Settings } from './settings.ts'

/**
 * The settings without spenders and recipients that are not addresses: what is sent to a wrong one is lost. Each closes itself, and `closed` says
 * so. Addresses of clients' wallets stay: they match no wallet.
 */
export function closeWrongAddresses(settings: Settings): Settings {
  const closed = [...settings.closed]
  const close = (file: string, where: string, what: string) =>
    void closed.push({
      file: path.join(path.basename(settings.confDir), file),
      path: where,
      problem: 'is not an address of an EVM chain that may be used',
      remedy: 'Copy it again, complete and with the right checksum, or write it in lower case.',
      closed: what,
    })
  const allowedSpenders = settings.wallet.allowedSpenders.filter((text, index) => {
    const isRight = curves.secp256k1.address(text) !== undefined
    if (!isRight) close('server.yml', `wallet.allowedSpenders[${index}]`, 'nobody may be approved by it')
    return isRight
  })
  const clients = settings.clients.map((client) => {
    const { name, permissions, sendTo } = client
    if (!permissions.includes('send') || !sendTo) return client
    const what = `it gives the client "${name}" nothing`
    const at = `clients.${name}.sendTo`
    const right = [...sendTo].flatMap(([wallet, recipients]): [string, readonly string[]][] => {
      if (recipientOf(wallet) === undefined) {
        close('clients.yml', `${at}.${wallet}`, what)
        return []
      }
      return [
        [
          wallet,
          recipients.filter((each, index) => {
            const isRight = recipientOf(each) !== undefined
            if (!isRight) close('clients.yml', `${at}.${wallet}[${index}]`, what)
            return isRight
          }),
        ],
      ]
    })
    return { ...client, sendTo: new Map(right) }
  })
  return { ...settings, clients, wallet: { ...settings.wallet, allowedSpenders }, closed }
}

/** A wallet or recipient of `sendTo`, in its canonical spelling. @returns undefined where it is none */
export function recipientOf(text: string): string | undefined {
  const address = curves.secp256k1.address(text)
  return address !== undefined && BigInt(address) !== 0n ? address : undefined
}
