// Transactions that wait, plugins that are held, and what the server found out about itself.
import { command } from '../../base/layout.ts'
import { networkPath, type NetworkName } from '../../base/networks.ts'
import type { Rule } from '../sources.ts'
import { createRemoval, increases } from './over-time.ts'

export const stuckTransaction: Rule<'stuckTransaction'> = {
  title: 'Transaction stuck',
  remedy: `See "${command} tx list --open": "${command} tx speed-up" pays more, "${command} tx cancel" gives it up.`,
  about: 'a transaction',
  looksAt: 'open transactions of the journal',
  every: 1_000,
  create({ seconds }, sources) {
    /** Since when each is seen: a clock that was set back makes none younger than that. */
    let seen: ReadonlyMap<string, number> = new Map()
    return async ({ nowMs, steadyMs }) => {
      const { entries, unread } = await sources.openTransactions()
      seen = new Map(entries.map(({ key }) => [key, seen.get(key) ?? steadyMs]))
      const ageMs = ({ key, createdAt }: (typeof entries)[number]) => Math.max(nowMs - createdAt, steadyMs - (seen.get(key) ?? steadyMs))
      return {
        found: entries
          .filter((entry) => ageMs(entry) >= seconds * 1000)
          .map(({ key, chain, network, address, kind, state, nonce, createdAt }) => ({
            subject: key,
            words: `${kind} of ${address} on ${chain}/${network}, nonce ${nonce}, is ${state} since ${new Date(createdAt).toISOString()}`,
          })),
        // A transaction is not over because the others of its wallet cannot be read: its key does not tell its wallet.
        isUnknown: () => unread !== undefined,
        unread,
      }
    }
  },
}

export const pluginQuarantined: Rule<'pluginQuarantined'> = {
  title: 'Plugin quarantined',
  remedy: `Take back what its spenders may take ("${command} approvals revoke"), look at the log and "${command} plugin list", then "${command} plugin lift".`,
  about: 'a plugin',
  looksAt: 'quarantined plugins, as /plugins shows them',
  every: 1_000,
  triggers: ['plugins'],
  create: (_, sources) => () => ({
    found: sources.quarantined().map(({ plugin, chain, network, txHash }) => ({
      subject: plugin,
      words: `${plugin}: transaction ${txHash} on ${chain}/${network} did more to a wallet than its plan was allowed; nothing is signed for it`,
    })),
  }),
}

export const booksDiffer: Rule<'booksDiffer'> = {
  title: 'Books differ from the chain',
  remedy: `A balance changed by what neither the journal nor the chain explains: see "${command} books verify".`,
  over: 'No check found more for long. What was found is not explained by that: the log has it.',
  about: 'a token on a network',
  looksAt: 'what the daily check warns of: sluice_books_unexplained, without tokens of books.rebasingTokens',
  every: 10_000,
  create({ days }, sources) {
    return async ({ nowMs, foundAt }) => {
      const all = await sources.unexplainedBalances()
      const nameOf = ({ chain, network, token }: (typeof all)[number]) => `${chain}/${network} ${token}`
      const checked = new Set(all.map(nameOf))
      return {
        found: all
          .filter(({ count }) => count > 0)
          .map((each) => ({
            subject: nameOf(each),
            words: `${each.token} on ${each.chain}/${each.network}: ${each.count} changes are not explained`,
          })),
        // Nothing is known before the first check. The next one looks at a later time, and explains nothing of what this or another server found.
        isUnknown: (subject) => !checked.has(subject) || nowMs - (foundAt(subject) ?? nowMs) < days * 86_400_000,
      }
    }
  },
}

const byConnector = ({ connector, count, ...on }: NetworkName & { readonly connector: string; readonly count: number }) => ({
  key: `${networkPath(on)} ${connector}`,
  count,
})

export const memoryDiffers: Rule<'memoryDiffers'> = {
  title: 'State in memory differed from the chain',
  remedy: 'It was loaded again. It is a defect of the connector or of a node: report it with the log of that time.',
  over: 'It was not found again for long.',
  about: 'a connector on a network',
  looksAt: 'sluice_market_checks_total with the outcome different',
  every: 1_000,
  create({ minutes }, sources) {
    const differences = increases(minutes * 60_000)
    return async ({ nowMs, steadyMs, foundAt }) => {
      const counts = (await sources.memoryDifferences()).map(byConnector)
      const isRecent = (key: string) => nowMs - (foundAt(key) ?? -Infinity) < minutes * 60_000
      const { keys, isUnknown } = differences.after(counts, steadyMs, isRecent)
      return {
        found: keys.map((key) => ({ subject: key, words: `${key}: what was kept in memory was not what the chain has` })),
        isUnknown,
      }
    }
  },
}

export const noQuote: Rule<'noQuote'> = {
  title: 'No quote for long',
  remedy: 'Nobody asks, or whoever asks is refused: look at the bots, and at sluice_errors_total.',
  about: 'a connector on a network that gave quotes since the start',
  looksAt: 'sluice_quotes_total',
  every: 5_000,
  create({ minutes }, sources) {
    const quotes = increases(minutes * 60_000)
    const removed = createRemoval()
    return ({ steadyMs }) => {
      const counts = sources.quotes().map(byConnector)
      const configured = new Set(sources.networks().map(networkPath))
      const areGone = removed(steadyMs)
      const recent = new Set(quotes.after(counts, steadyMs).keys)
      const known = new Set(counts.filter(({ count }) => count > 0).map(({ key }) => key))
      return {
        found: [...known]
          .filter((key) => !recent.has(key))
          .map((key) => ({ subject: key, words: `${key} gave no quote for ${minutes} minutes` })),
        // Of what gave none since the start it is not known whether anybody wants one.
        isUnknown: (subject) => !known.has(subject) && (configured.has(subject.split(' ', 1)[0] ?? '') || !areGone),
      }
    }
  },
}
