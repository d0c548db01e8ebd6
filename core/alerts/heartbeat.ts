// Asks a URL while the server is healthy: a service that is not asked any more tells people that the server is down.
import { withDeadline } from '../base/async.ts'
import { reasonOf } from '../base/errors.ts'
import type { AlertSettings } from '../config/alerts-file.ts'
import { saidWithout, secretsOfUrl } from '../config/mask.ts'
import type { ResolveAll } from '../base/public-address.ts'
import { createWebCalls, requireTaken } from './web-call.ts'

export interface Heartbeat {
  /** Never rejects. */
  beat(): Promise<void>
  stop(): Promise<void>
}

interface HeartbeatOptions {
  readonly settings: AlertSettings['heartbeat']
  /** Parts that fail. */
  failing(): Promise<readonly { readonly part: string }[]>
  readonly log: { warn(fields: object, message: string): void }
  onBeat?(outcome: 'delivered' | 'failed' | 'unhealthy'): void
  readonly resolve?: ResolveAll
}

const sendMs = 15_000

/** Undefined without a URL. */
export function createHeartbeat({ settings, failing, log, onBeat = () => {}, resolve }: HeartbeatOptions): Heartbeat | undefined {
  const { url, seconds, allowPrivate } = settings
  if (url === undefined) return undefined
  const calls = createWebCalls({ allowPrivate, resolve })
  const closing = new AbortController()
  let isFailing = false
  let isBeating = false

  async function beat(): Promise<void> {
    if (url === undefined || isBeating || closing.signal.aborted) return
    isBeating = true
    try {
      if ((await failing()).length > 0) return onBeat('unhealthy')
      const answer = await withDeadline(closing.signal, sendMs, (signal) => calls.send({ method: 'GET', url, signal }))
      requireTaken(answer, secretsOfUrl(url))
      isFailing = false
      onBeat('delivered')
    } catch (error) {
      const reason = saidWithout(secretsOfUrl(url), reasonOf(error))
      if (!isFailing && !closing.signal.aborted) log.warn({ reason }, 'the heartbeat was not taken; tried again')
      isFailing = true
      onBeat('failed')
    } finally {
      isBeating = false
    }
  }

  const timer = setInterval(() => void beat(), seconds * 1000).unref()
  void beat()
  return {
    beat,
    async stop() {
      clearInterval(timer)
      closing.abort()
      await calls.close()
    },
  }
}
