import { ApproveAgentRequest, ApproveAgentResponse, ApproveAgentTypes } from '@nktkas/hyperliquid/api/exchange'
import { defineAction, done, failed } from './action.ts'

const [defaultMs, mostNamed] = [90 * 86_400_000, 3]

/** One without a name and three with one: each takes the place of who had its name, whose nonces are forgotten. */
export const approveAgent = defineAction({
  request: ApproveAgentRequest,
  response: ApproveAgentResponse,
  types: ApproveAgentTypes,
  run: (engine, account, { agentAddress, agentName }, { nonces }) => {
    const [, name, until] = /^(.*?)(?: valid_until (\d+))?$/.exec(agentName ?? '') ?? []
    const address = agentAddress.toLowerCase()
    if (engine.accounts.get(address)?.exists) return failed('Cannot add an existing user as an agent.')
    const taken = [...engine.accounts.values()].some(({ agents }) => agents.some((agent) => agent.address === address))
    if (taken) return failed('Extra agent already used.')
    const replaced = account.agents.find((agent) => (agent.name ?? '') === (name ?? ''))
    if (!replaced && name && account.agents.filter((agent) => agent.name).length >= mostNamed) return failed('Too many extra agents.')
    if (replaced) nonces.forget(replaced.address)
    const validUntil = until ? Number(until) : engine.clock.now() + defaultMs
    account.agents = [...account.agents.filter((agent) => agent !== replaced), { address, validUntil, ...(name ? { name } : {}) }]
    return done
  },
})
