import { createClient } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'

/** Looks, from before it is revoked, until the server refuses a certificate: it reads its list a moment after that is written. */
export function refusalOf(url: string, certsDir: string, name: string): { heard(): Promise<void> } {
  const asking = createClient(url, certsDir, name)
  return {
    async heard() {
      const isRefused = () =>
        asking.get('/').then(
          () => false,
          () => true,
        )
      await until(`${name} is refused`, isRefused).finally(() => asking.close())
    },
  }
}
