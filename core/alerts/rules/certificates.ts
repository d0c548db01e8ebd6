// Certificates that end soon.
import type { Rule } from '../sources.ts'

const dayMs = 24 * 3_600_000

export const certificateExpiring: Rule<'certificateExpiring'> = {
  title: 'Certificate expires',
  remedy: 'Renew it, and give it to whoever uses it.',
  about: 'a certificate',
  looksAt: 'the certificates of the server, of its CA and of clients that are not revoked, the newest of each',
  every: 60_000,
  create:
    ({ days }, sources) =>
    async ({ nowMs }) => {
      const all = await sources.certificates()
      return {
        found: all
          .filter(({ validTo }) => validTo - nowMs < days * dayMs)
          .map(({ name, validTo, renew }) => {
            const date = new Date(validTo).toISOString().slice(0, 10)
            return { subject: name, words: `${name} ${validTo < nowMs ? 'has expired on' : 'expires on'} ${date}: ${renew}` }
          }),
      }
    },
}
