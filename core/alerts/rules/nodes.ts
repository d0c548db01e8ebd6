// Nodes and networks: who is behind, who comes and goes.
import { networkPath } from '../../base/networks.ts'
import type { AlertSources, Rule } from '../sources.ts'
import { createRemoval, createSince } from './over-time.ts'

type Node = ReturnType<AlertSources['nodes']>[number]

const subjectOf = (node: Node): string => `${networkPath(node)} ${node.url}`

/** Nodes in these states are preferred less, and are right. */
const goodStates: ReadonlySet<string> = new Set(['good', 'slow', 'unchecked'])

function createPresence() {
  const removed = createRemoval()
  return (nodes: readonly Node[], steadyMs: number): ((subject: string) => boolean) => {
    const there = new Set(nodes.map(subjectOf))
    const areGone = removed(steadyMs)
    return (subject) => !areGone && !there.has(subject)
  }
}

export const nodeBehind: Rule<'nodeBehind'> = {
  title: 'Node behind or not good',
  remedy:
    'Others are asked instead while there are some: see /metrics or the dashboard, and its operator. rpcUrls in conf/chains names them.',
  about: 'a node of a network',
  looksAt: 'sluice_node_state, sluice_node_lag_blocks, of networks in use',
  every: 1_000,
  create({ blocks, seconds }, sources) {
    const since = createSince()
    const presence = createPresence()
    return ({ steadyMs }) => {
      const nodes = sources.nodes()
      const undecided = new Set<string>()
      const isNotGood = ({ state, lagBlocks = 0 }: Node) => lagBlocks >= blocks || !goodStates.has(state)
      since.keep(new Set(nodes.filter(isNotGood).map(subjectOf)))
      const found = nodes.flatMap((node) => {
        const { state, lagBlocks = 0, trouble } = node
        const isBad = isNotGood(node)
        const isLong = isBad && since.msOf(subjectOf(node), steadyMs) >= seconds * 1000
        // After a restart a node is not asked yet, and then it is not bad for long.
        if (state === 'unchecked' || (isBad && !isLong)) undecided.add(subjectOf(node))
        if (!isBad || !isLong) return []
        const lag = lagBlocks > 0 ? `, ${lagBlocks} blocks behind` : ''
        return [
          {
            subject: subjectOf(node),
            words: `${node.url} of ${node.chain}/${node.network} is ${state}${lag}${trouble ? `: ${trouble}` : ''}`,
          },
        ]
      })
      const isAbsent = presence(nodes, steadyMs)
      return { found, isUnknown: (subject) => undecided.has(subject) || isAbsent(subject) }
    }
  },
}

export const nodeFlapping: Rule<'nodeFlapping'> = {
  title: 'Node comes and goes',
  remedy: 'It is preferred less while it does. Ask its operator, or name another in rpcUrls of conf/chains.',
  about: 'a node of a network',
  looksAt: 'sluice_node_state',
  every: 1_000,
  create({ changes, minutes }, sources) {
    const known = new Map<string, { isGood: boolean; changedAt: number[] }>()
    const presence = createPresence()
    let since: number | undefined
    return ({ steadyMs }) => {
      since ??= steadyMs
      const nodes = sources.nodes()
      const found = nodes.flatMap((node) => {
        const isGood = goodStates.has(node.state)
        const before = known.get(subjectOf(node)) ?? { isGood, changedAt: [] }
        const changedAt = [...before.changedAt, ...(before.isGood === isGood ? [] : [steadyMs])]
          .filter((at) => steadyMs - at < minutes * 60_000)
          .slice(-changes)
        known.set(subjectOf(node), { isGood, changedAt })
        if (changedAt.length < changes) return []
        return [
          {
            subject: subjectOf(node),
            words: `${node.url} of ${node.chain}/${node.network} changed its state ${changes} times within ${minutes} minutes, and is ${node.state}`,
          },
        ]
      })
      const isAbsent = presence(nodes, steadyMs)
      // What changed before a restart is not known any more: it counts for as long.
      const isYoung = steadyMs - since < minutes * 60_000
      return { found, isUnknown: (subject) => isYoung || isAbsent(subject) }
    }
  },
}

export const networkBehind: Rule<'networkBehind'> = {
  title: 'No new block',
  remedy: 'The chain stands still, or every node is behind: /health/ready says of each node why. Nothing is quoted there meanwhile.',
  about: 'a network',
  looksAt: 'sluice_market_block_age_seconds, of networks that are not local',
  every: 1_000,
  create({ seconds }, sources) {
    const removed = createRemoval()
    return ({ steadyMs }) => {
      const ages = sources.blockAges()
      const there = new Set(ages.map(networkPath))
      const configured = new Set(sources.networks().map(networkPath))
      const areGone = removed(steadyMs)
      return {
        found: ages
          .filter((each) => each.seconds > seconds)
          .map((each) => ({
            subject: networkPath(each),
            words: `The newest block of ${networkPath(each)} is ${Math.floor(each.seconds)} s old`,
          })),
        // Blocks are followed while somebody needs them.
        isUnknown: (subject) => !there.has(subject) && (configured.has(subject) || !areGone),
      }
    }
  },
}
