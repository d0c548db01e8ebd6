import {
  ExtraAgentsRequest,
  ExtraAgentsResponse,
  PreTransferCheckRequest,
  PreTransferCheckResponse,
  SubAccountsRequest,
  SubAccountsResponse,
  UserDexAbstractionRequest,
  UserDexAbstractionResponse,
  UserFeesRequest,
  UserFeesResponse,
  UserRateLimitRequest,
  UserRateLimitResponse,
  UserRoleRequest,
  UserRoleResponse,
} from '@nktkas/hyperliquid/api/info'
import { literal, object, picklist, pipe, regex, string, toLowerCase } from 'valibot'
import { fromUnits, toUnits, fromUsd } from '../amounts.ts'
import { requestCap } from '../actions/execute.ts'
import { defineQuery } from './query.ts'

const decimal = (text: string) => fromUnits(toUnits(text, 12), 12)

export const userFees = defineQuery({
  request: UserFeesRequest,
  response: UserFeesResponse,
  answer: ({ rules: { fees } }) => {
    const [cross, add, spotCross, spotAdd] = [fees.cross, fees.add, fees.spotCross, fees.spotAdd].map(decimal)
    return {
      dailyUserVlm: [],
      feeSchedule: {
        cross,
        add,
        spotCross,
        spotAdd,
        tiers: { vip: [], mm: [] },
        referralDiscount: '0.04',
        stakingDiscountTiers: [{ bpsOfMaxSupply: '0.0', discount: '0.0' }],
      },
      userCrossRate: cross,
      userAddRate: add,
      userSpotCrossRate: spotCross,
      userSpotAddRate: spotAdd,
      activeReferralDiscount: '0.0',
      trial: null,
      feeTrialEscrow: '0.0',
      nextTrialAvailableTimestamp: null,
      stakingLink: null,
      activeStakingDiscount: { bpsOfMaxSupply: '0.0', discount: '0.0' },
    }
  },
})

export const userRateLimit = defineQuery({
  request: UserRateLimitRequest,
  response: UserRateLimitResponse,
  answer: (engine, { user }) => {
    const account = engine.accounts.get(user)
    const cap = account ? requestCap(engine, account) : engine.rules.requestsPerAddress
    return {
      cumVlm: fromUsd(account?.volumeUsd ?? 0n),
      nRequestsUsed: account?.requests ?? 0,
      nRequestsCap: Number.isFinite(cap) ? cap : Number.MAX_SAFE_INTEGER,
      nRequestsSurplus: 0,
    }
  },
})

export const userRole = defineQuery({
  request: UserRoleRequest,
  response: UserRoleResponse,
  weight: 60,
  answer: (engine, { user }) => {
    if (engine.accounts.get(user)?.exists) return { role: 'user' }
    const master = [...engine.accounts.values()].find(({ agents }) => agents.some(({ address }) => address === user))
    return master ? { role: 'agent', data: { user: master.address } } : { role: 'missing' }
  },
})

/** Those that have a name. */
export const extraAgents = defineQuery({
  request: ExtraAgentsRequest,
  response: ExtraAgentsResponse,
  answer: ({ accounts }, { user }) => (accounts.get(user)?.agents ?? []).filter(({ name }) => name),
})

export const preTransferCheck = defineQuery({
  request: PreTransferCheckRequest,
  response: PreTransferCheckResponse,
  answer: ({ accounts }, { user }) => {
    const account = accounts.get(user)
    const userExists = account?.exists ?? false
    return { fee: userExists ? '0.0' : '1.0', isSanctioned: false, userExists, userHasSentTx: account?.hasSentTx ?? false }
  },
})

export const subAccounts = defineQuery({ request: SubAccountsRequest, response: SubAccountsResponse, answer: () => null })

export const userDexAbstraction = defineQuery({
  request: UserDexAbstractionRequest,
  response: UserDexAbstractionResponse,
  answer: () => null,
})

const address = pipe(string(), regex(/^0x[0-9a-fA-F]{40}$/), toLowerCase())

/** Of later versions of the client library than the one whose schemas are used for the others. */
export const userAbstraction = defineQuery({
  request: object({ type: literal('userAbstraction'), user: address }),
  response: picklist(['unifiedAccount', 'portfolioMargin', 'disabled', 'default', 'dexAbstraction']),
  answer: ({ accounts }, { user }) => (accounts.get(user)?.mode === 'portfolioMargin' ? 'portfolioMargin' : 'default'),
})
