import { algebraWalk } from '../../kits/amm/algebra/algebra-walk.ts'
import { tokens } from '../../kits/amm/devnet-fixture.ts'
import plugin from '../../../plugins/quickswap-v4/index.ts'

const { WETH, USDC, DAI, WBTC } = tokens

algebraWalk({ name: 'quickswap-v4', kind: 'integral', plugin, asked: [DAI, USDC], computed: [WBTC, WETH], pools: 5, share: 0.2 })
