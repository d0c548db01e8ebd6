import { SluiceError } from '../api/index.ts'
import type { Signer } from '../wallet/index.ts'
import type { Directory } from '../verbs/directory.ts'

const deadlineMs = 2_000

/** What keeps the server from being ready: the signer, and every required network. The listener is what asks. */
export async function failingParts(signer: Signer, directory: Directory): Promise<readonly { part: string; reason: string }[]> {
  const required = directory.networks.filter((network) => network.required)
  const networks = await Promise.all(
    required.map(async ({ chain, network, impl, notReady }) => {
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
  )
  const signing = signer.isReady() ? undefined : { part: 'signer', reason: 'it is being started again' }
  return [signing, ...networks].filter((each) => each !== undefined)
}
