import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../api/index.ts'
import type { Store } from '../store/store.ts'
import type { Signer } from '../wallet/signer.ts'
import type { Directory } from '../handlers/registry.ts'

const deadlineMs = 2_000

/** What keeps the server from being ready: the store, the signer, and every required network. The listener is what asks. */
export async function failingParts(
  signer: Pick<Signer, 'isReady'>,
  store: Pick<Store, 'failing'>,
  directory: Pick<Directory, 'networks'>,
): Promise<readonly { part: string; reason: string }[]> {
  const required = directory.networks.filter((network) => network.required)
  const [kept, ...networks] = await Promise.all([
    keeping(store),
    ...required.map(async ({ chain, network, impl, notReady }) => {
      const part = `${chain}/${network}`
      const starting = notReady()
      if (starting !== undefined) return { part, reason: starting }
      try {
        await impl.head({ signal: AbortSignal.timeout(deadlineMs) })
        return undefined
      } catch (error) {
        return { part, reason: error instanceof SluiceError ? error.message : 'its nodes do not answer' }
      }
    }),
  ])
  const signing = signer.isReady() ? undefined : { part: 'signer', reason: 'it is being started again' }
  return [kept, signing, ...networks].filter((each) => each !== undefined)
}

/** A database that hangs answers nobody: it fails too. */
async function keeping(store: Pick<Store, 'failing'>): Promise<{ part: string; reason: string } | undefined> {
  const late = new AbortController()
  const hangs = sleep(deadlineMs, 'it does not answer', { signal: late.signal }).catch(() => undefined)
  const reason = await Promise.race([store.failing().catch(() => 'it failed to say'), hangs]).finally(() => late.abort())
  return reason === undefined ? undefined : { part: 'store', reason }
}
