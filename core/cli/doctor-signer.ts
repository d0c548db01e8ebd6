// What `sluice doctor` says of the signer service that a server's settings name.
import { command } from '../base/layout.ts'
import type { Settings } from '../config/settings.ts'
import { mayHaveRealKeys } from '../keys/sources.ts'
import { boundProblem } from '../wallet/service/bound.ts'
import { askSigner } from '../wallet/service/client.ts'
import type { Welcome } from '../wallet/service/protocol.ts'
import type { Finding } from './output.ts'
import { reasonOf } from '../base/errors.ts'

/** Whether the signer service answers, what it has, and whether its bounds hold against this server. */
export async function examineSigner(
  socket: string,
  { data, wallet }: Pick<Settings, 'data' | 'wallet'>,
): Promise<{ readonly findings: Finding[]; readonly wallets: Welcome['wallets'] }> {
  const part = 'signer'
  const left: Finding[] = []
  if (mayHaveRealKeys([], data.dir))
    left.push({
      part,
      state: 'warn',
      what: `The keys in ${data.dir} are not used: the signer service has its own.`,
      remedy: 'Take them away, so that who takes over the server does not have them.',
    })
  if (wallet.passphraseFile !== undefined)
    left.push({
      part,
      state: 'warn',
      what: 'The server has a passphrase (SLUICE_WALLET_PASSPHRASE_FILE), and needs none: the signer service has its own.',
      remedy: 'Take it away from the server.',
    })
  try {
    const { wallets, locked, limits, changers, version } = await askSigner(socket)
    const problem = boundProblem(socket, changers)
    const bound: Finding =
      problem === undefined
        ? {
            part,
            state: 'good',
            what: 'What it bounds holds against a server that was taken over: it is another user, and so are its files.',
          }
        : {
            part,
            state: 'warn',
            what: `What it bounds does not hold against a server that was taken over: ${problem}.`,
            remedy: 'docs/operators/signer.md says whose the processes and files have to be.',
          }
    const findings: Finding[] = [
      {
        part,
        state: 'good',
        what: `The signer service (Sluice ${version}) answers at ${socket}, with ${wallets.length} wallets. It bounds ${limits} by its conf/limits.yml.`,
      },
      bound,
      ...locked.map((what): Finding => ({ part, state: 'bad', what })),
    ]
    return { findings: [...findings, ...left], wallets }
  } catch (error) {
    const what = `The signer service is not there: ${reasonOf(error)}.`
    return { findings: [{ part, state: 'bad', what, remedy: `Start it: ${command} signer --socket ${socket}.` }, ...left], wallets: [] }
  }
}
