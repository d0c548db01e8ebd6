// What stops trading, or waits for a person.
import { command } from '../../base/layout.ts'
import type { Rule } from '../sources.ts'
import { createSince } from './over-time.ts'

export const notReady: Rule<'notReady'> = {
  title: 'Server not ready',
  remedy: `Nothing is traded by what is named here: its reason says what to do, and so do /health/ready and "${command} doctor".`,
  about: 'the store, the signer or a required network',
  looksAt: '/health/ready',
  every: 5_000,
  create({ seconds }, sources) {
    const since = createSince()
    return async ({ steadyMs }) => {
      const failing = await sources.failing()
      since.keep(new Set(failing.map(({ part }) => part)))
      const isLong = ({ part }: (typeof failing)[number]) => since.msOf(part, steadyMs) >= seconds * 1000
      const parts = failing.map((each) => ({ ...each, isLong: isLong(each) }))
      return {
        found: parts
          .filter((each) => each.isLong)
          .map(({ part, reason, remedy }) => ({
            subject: part,
            words: `${part}: ${[reason, remedy].flatMap((each) => each?.replace(/\.$/, '') ?? []).join('. ')}`,
          })),
        // After a restart it was not so for long yet.
        isUnknown: (subject) => parts.some((each) => each.part === subject && !each.isLong),
      }
    }
  },
}

export const noGoodNode: Rule<'noGoodNode'> = {
  title: 'No node is good',
  remedy: 'Nothing is traded on the network: /network/status says of each node why, rpcUrls in conf/chains names them.',
  about: 'a network',
  looksAt: 'sluice_node_state, of networks in use',
  every: 1_000,
  create({ seconds }, sources) {
    const since = createSince()
    return ({ steadyMs }) => {
      const byNetwork = new Map<string, ReturnType<typeof sources.nodes>>()
      for (const node of sources.nodes()) {
        const name = `${node.chain}/${node.network}`
        byNetwork.set(name, [...(byNetwork.get(name) ?? []), node])
      }
      const isBad = ({ state }: { readonly state: string }) => state !== 'good' && state !== 'slow' && state !== 'unchecked'
      const bad = [...byNetwork].filter(([, nodes]) => nodes.every(isBad))
      since.keep(new Set(bad.map(([name]) => name)))
      const long = bad.filter(([name]) => since.msOf(name, steadyMs) >= seconds * 1000)
      const isLong = new Set(long.map(([name]) => name))
      return {
        found: long.map(([name, nodes]) => ({
          subject: name,
          words: `${name}: ${nodes.map(({ url, state, trouble }) => `${url} is ${state}${trouble ? ` (${trouble})` : ''}`).join(', ')}`,
        })),
        isUnknown: (subject) => bad.some(([name]) => name === subject) && !isLong.has(subject),
      }
    }
  },
}

export const approvalWaits: Rule<'approvalWaits'> = {
  title: 'A request waits for approval',
  remedy: `See "${command} approve": another client with the permission approve lets it through or denies it, before it expires.`,
  about: 'a request',
  looksAt: 'what waits for a second person, as /approvals shows it',
  every: 2_000,
  create: (_, sources) => async () => ({
    found: (await sources.waitingApprovals()).map(({ id, client, endpoint, expiresAt }) => ({
      subject: String(id),
      words: `request ${id} of the client ${client} (${endpoint}) waits until ${new Date(expiresAt).toISOString()}`,
    })),
  }),
}

export const tradingStopped: Rule<'tradingStopped'> = {
  title: 'Trading is stopped',
  remedy: `Somebody stopped it on purpose: "${command} resume" lifts it.`,
  about: 'what is stopped',
  looksAt: 'stops in force, as /stops shows them',
  every: 1_000,
  create: (_, sources) => () => ({
    found: sources.stops().map(({ mode, of, setBy, reason }) => ({
      subject: `${mode} ${of}`,
      words: `${mode} is in force for ${of}, set by ${setBy}${reason === undefined ? '' : `: ${reason}`}`,
    })),
  }),
}

export const clientsFileWrong: Rule<'clientsFileWrong'> = {
  title: 'conf/clients.yml is wrong',
  remedy: 'What was changed in it does not hold, such as a lower limit or a client that was taken out: the log says what is wrong.',
  about: 'the file',
  looksAt: 'sluice_clients_file_wrong',
  every: 1_000,
  create: (_, sources) => () => ({
    found: sources.clientsFileWrong()
      ? [{ subject: 'conf/clients.yml', words: 'conf/clients.yml is wrong: what it said before holds' }]
      : [],
  }),
}

export const pluginRefused: Rule<'pluginRefused'> = {
  title: 'Plugin does not run',
  remedy: `Nothing is traded by it: see "${command} plugin list" and the log.`,
  about: 'a plugin that was allowed, or is built in, or one of its networks',
  looksAt:
    'plugins that were refused, and changes of sluice.lock that are not in force, as /plugins shows them; processes of plugins that are down, and networks that are not served because their settings are wrong',
  every: 5_000,
  triggers: ['plugins'],
  create({ seconds }, sources) {
    const since = createSince()
    return ({ steadyMs }) => {
      const refused = sources.refusedPlugins()
      since.keep(new Set(refused.map(({ plugin }) => plugin)))
      const isLong = ({ plugin }: (typeof refused)[number]) => since.msOf(plugin, steadyMs) >= seconds * 1000
      const all = refused.map((each) => ({ ...each, isLong: isLong(each) }))
      return {
        found: all.filter((each) => each.isLong).map(({ plugin, reason }) => ({ subject: plugin, words: `${plugin}: ${reason}` })),
        isUnknown: (subject) => all.some((each) => each.plugin === subject && !each.isLong),
      }
    }
  },
}
