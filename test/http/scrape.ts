import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Client } from '../../testkit/client.ts'

/** The metrics as they are from now on: the server keeps those of a scrape for a moment. Each has counted the scrapes before it. */
export async function scrape(client: Pick<Client, 'get'>): Promise<Answer> {
  const { text } = await client.get('/metrics')
  for (;;) {
    const answer = await client.get('/metrics')
    if (answer.text !== text) return answer
    await sleep(50)
  }
}
