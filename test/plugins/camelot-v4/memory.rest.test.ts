import { algebraWalk } from '../../kits/amm/algebra/algebra-walk.ts'
import { tokens } from '../../kits/amm/devnet-fixture.ts'
import plugin from '../../../plugins/camelot-v4/index.ts'

const { WETH, DAI, WBTC } = tokens

algebraWalk({ name: 'camelot-v4', kind: 'integral', plugin, asked: [WETH, DAI], computed: [WBTC, WETH], pools: 4, share: 0.1 })
