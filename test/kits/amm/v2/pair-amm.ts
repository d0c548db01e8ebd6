import type { Venue } from '../../../../core/contracts/index.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { poolAMM } from '../../../../kits/amm/index.ts'
import { uniswapV2, type UniswapV2Options } from '../../../../kits/amm/v2/index.ts'

/** An exchange with v2 pools only. */
export const pairAMM = (venue: Venue<Evm>, options: UniswapV2Options) => poolAMM(venue, uniswapV2(venue, options))
