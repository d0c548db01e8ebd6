import type { Connector, ConnectorFinding, Permit2Spenders } from '../plugin.ts'
import { ammContract } from './amm.ts'
import { ammRangeContract } from './amm-range.ts'
import { ammSharesContract } from './amm-shares.ts'
import { answers, callback, direct, list, object, optional, part, property, record, text, type Contract } from './contract.ts'
import { clobContract, marginCLOBContract, perpCLOBContract } from './order-books.ts'
import { perpAMMContract } from './perp-amm.ts'
import { signedActionsContract } from './rail.ts'

export const connectorContract: Contract<Connector> = {
  AMM: part(ammContract),
  AMM_RANGE: part(ammRangeContract),
  AMM_SHARES: part(ammSharesContract),
  PERP_AMM: part(perpAMMContract),
  CLOB: part(clobContract),
  MARGIN_CLOB: part(marginCLOBContract),
  PERP_CLOB: part(perpCLOBContract),
  spenders: property(record(text(), 100)),
  permit2: property(
    object<Permit2Spenders>({
      address: text(),
      spenders: list(text(), 100),
      permitSpenders: optional(list(text(), 100)),
      withPermit: optional(callback()),
    }),
  ),
  events: property(list(text(2_000), 1_000)),
  actions: part(signedActionsContract),
  refusals: property(record(text(2_000), 10_000)),
  examine: answers(list(object<ConnectorFinding>({ what: text(2_000), remedy: optional(text(2_000)) }), 100)),
  start: direct,
  stop: direct,
}
