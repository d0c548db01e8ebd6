import { expect } from 'chai'
import { assert, integer, property, string } from 'fast-check'
import { judge, saysLostHistory, sendErrorMeaning, errorPatterns, type ErrorMeaning } from '../../../kits/evm/node-errors.ts'
import { revertData, revertReason } from '../../../kits/evm/reverts.ts'
import { nodeErrorRows, type NodeErrorRow } from '../../fixtures/node-errors.ts'

type NodeReply = readonly [node: string, code: number, message: string, means: ErrorMeaning | undefined]

const said: readonly NodeReply[] = [
  ['geth', -32000, 'already known', 'known'],
  ['erigon', -32000, 'ALREADY_EXISTS: already known', 'known'],
  ['erigon', -32000, 'INTERNAL_ERROR: existing txn with same hash', 'known'],
  ['anvil', -32003, 'transaction already imported', 'known'],
  ['Moonbeam', -32603, 'submit transaction to pool failed: Pool(AlreadyImported)', 'known'],
  ['nethermind', -32010, 'AlreadyKnown', 'known'],
  ['besu', -32000, 'Known transaction', 'known'],
  ['hardhat', -32000, `Known transaction: 0x${'ab'.repeat(32)}`, 'known'],
  ['zkSync', 3, 'known transaction. transaction with hash 0xf016…ad63 is already in the system', 'known'],

  ['geth', -32000, 'nonce too low: next nonce 7, tx nonce 5', 'nonce-too-low'],
  ['erigon', -32000, 'INTERNAL_ERROR: nonce too low', 'nonce-too-low'],
  ['besu', -32001, 'Nonce too low', 'nonce-too-low'],
  ['hardhat', -32000, 'Transaction nonce too low. Expected nonce to be at least 7 but got 5.', 'nonce-too-low'],
  ['zkSync', 3, 'nonce too low. allowed nonce range: 427 - 447, actual: 426', 'nonce-too-low'],
  ['nethermind', -32010, 'OldNonce, Current nonce: 7, nonce of rejected tx: 5.', 'nonce-too-low'],
  ['Moonbeam', -32603, 'submit transaction to pool failed: Pool(Stale)', 'nonce-too-low'],
  ['Harmony', -32000, 'transaction already finalized', 'nonce-too-low'],
  ['any node, by the code', -38010, 'in a language of its own', 'nonce-too-low'],

  ['besu', -32006, 'Nonce too high', 'nonce-too-high'],
  ['besu', -32000, 'Transaction nonce is too distant from current sender nonce', 'nonce-too-high'],
  ['nethermind', -32010, 'NonceGap, Future nonce. Expected nonce: 10', 'nonce-too-high'],
  ['nethermind', -32010, 'nonce too far in future', 'nonce-too-high'],
  ['geth', -32000, 'gapped-nonce tx from delegated accounts', 'nonce-too-high'],

  [
    'geth',
    -32000,
    'replacement transaction underpriced: new tx gas fee cap 1 < 2 queued + 10% replacement penalty',
    'replacement-underpriced',
  ],
  [
    'hardhat',
    -32000,
    'Replacement transaction underpriced. A gasPrice/maxFeePerGas of at least 22 is necessary to replace the existing transaction with nonce 0.',
    'replacement-underpriced',
  ],
  ['reth', -32000, '[0xab]: insufficient gas price to replace existing transaction', 'replacement-underpriced'],
  ['erigon', -32000, 'INTERNAL_ERROR: could not replace existing tx', 'replacement-underpriced'],
  ['geth', -32000, 'future transaction tries to replace pending', 'replacement-underpriced'],

  ['geth', -32000, 'transaction underpriced: tip needed 1, tip permitted 0', 'fee-too-low'],
  ['erigon', -32000, 'INTERNAL_ERROR: underpriced', 'fee-too-low'],
  ['erigon', -32000, 'INTERNAL_ERROR: fee too low', 'fee-too-low'],
  ['nethermind', -32010, 'FeeTooLowToCompete', 'fee-too-low'],
  [
    'nethermind',
    -32010,
    'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 50, BaseFee: 100, MaxPriorityFeePerGas:200, Block number: 5',
    'fee-too-low',
  ],
  ['geth', -32000, 'max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2', 'fee-too-low'],
  ['besu', -32009, 'Gas price below current base fee', 'fee-too-low'],
  ['BSC', -32000, 'transaction gas price below minimum: gas tip cap 0, minimum needed 1', 'fee-too-low'],
  ['reth', -32003, 'transaction priority fee below minimum required priority fee 7', 'fee-too-low'],
  ['Metis', -32000, 'gas price too low: 18000000000 wei, use at least tx.gasPrice = 19500000000 wei', 'fee-too-low'],
  ['hardhat', -32000, 'Transaction maxFeePerGas (1) is too low for the next block, which has a baseFeePerGas of 2', 'fee-too-low'],

  ['geth', -32000, 'insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1', 'insufficient-funds'],
  ['anvil', -32003, 'Insufficient funds for gas * price + value', 'insufficient-funds'],
  ['op-geth', -32000, 'insufficient funds for gas * price + value + rollup cost', 'insufficient-funds'],
  ['nethermind', -32010, 'InsufficientFunds, Account balance: 1, cumulative cost: 2', 'insufficient-funds'],
  ['besu', -32004, 'Upfront cost exceeds account balance', 'insufficient-funds'],
  [
    'hardhat',
    -32000,
    "Sender doesn't have enough funds to send tx. The max upfront cost is: 2 and the sender's balance is: 1.",
    'insufficient-funds',
  ],
  ['Monad', -32603, 'Signer had insufficient balance', 'insufficient-funds'],
  ['Monad, of its reserve balance', -32603, 'reserve balance violation', 'insufficient-funds'],
  ['Monad', -32603, 'Transaction nonce too low', 'nonce-too-low'],
  ['Monad', -32603, 'Transaction fee too low', 'fee-too-low'],
  ['Monad', -32603, 'Transaction pool is full', 'not-now'],
  ['Monad', -32603, 'Transaction pool is not ready', 'not-now'],
  ['geth', -32000, 'transaction would cause overdraft', 'insufficient-funds'],
  ['Arbitrum', -32000, 'not enough funds for gas', 'insufficient-funds'],

  ['geth', -32000, 'gas required exceeds allowance (1000)', 'out-of-gas'],
  ['anvil', -32003, 'Out of gas: gas required exceeds allowance: 1000', 'out-of-gas'],
  ['anvil', -32603, 'EVM error OutOfGas', 'out-of-gas'],
  ['anvil', -32603, 'EVM error MemoryOOG', 'out-of-gas'],
  ['reth', -32003, 'out of gas: gas exhausted during memory expansion: 7', 'out-of-gas'],
  ['geth', -32000, 'intrinsic gas too low: gas 1, minimum needed 21000', 'out-of-gas'],
  ['erigon', -32000, 'INTERNAL_ERROR: IntrinsicGas', 'out-of-gas'],
  ['besu', -32003, 'Intrinsic gas exceeds gas limit', 'out-of-gas'],
  ['geth', -32000, 'insufficient gas for floor data gas cost: gas 19435, minimum needed 24000', 'out-of-gas'],

  ['geth', -32000, 'txpool is full', 'not-now'],
  ['erigon', -32000, 'INTERNAL_ERROR: queued sub-pool is full', 'not-now'],
  ['Arbitrum', -32000, 'sequencer pending tx pool full, please try again', 'not-now'],
  ['Alchemy', -32000, 'in-flight transaction limit reached for delegated accounts', 'not-now'],
  ['geth', -32000, 'account limit exceeded: pooled 16 txs', 'not-now'],
  ['reth', -32003, 'address already reserved', 'not-now'],
  ['nethermind', -32010, 'node is syncing', 'not-now'],
  ['besu', -32008, 'Initial sync is still in progress', 'not-now'],
  ['besu', -32002, 'Transaction pool not enabled. (Either txpool explicitly disabled, or node not yet in sync).', 'not-now'],

  ['geth', -32000, 'exceeds block gas limit', 'invalid'],
  ['besu', -32005, 'Transaction gas limit exceeds block gas limit', 'invalid'],
  ['hardhat', -32000, 'Transaction gas limit is 7 and exceeds block gas limit of 6', 'invalid'],
  ['erigon', -32000, 'INTERNAL_ERROR: gas limit is too high', 'invalid'],
  ['geth', -32000, 'transaction gas limit too high (cap: 16777216, tx: 20000000)', 'invalid'],
  ['anvil', -32003, 'Transaction gas limit is greater than the block gas limit, gas_limit: 7, cap: 6', 'invalid'],
  ['geth', -32000, 'tx fee (1.10 ether) exceeds the configured cap (1.00 ether)', 'invalid'],
  ['besu', -32000, 'Transaction fee cap exceeded', 'invalid'],
  ['geth', -32000, 'max priority fee per gas higher than max fee per gas', 'invalid'],
  ['geth', -32000, 'invalid sender', 'invalid'],
  ['reth', -32003, 'sender is not an EOA', 'invalid'],
  ['besu', -32000, 'Wrong chainId', 'invalid'],
  ['anvil', -32003, 'invalid chain id for signer', 'invalid'],
  ['geth', -32000, 'transaction type not supported', 'invalid'],
  ['geth', -32000, 'oversized data: transaction size 131073, limit 131072', 'invalid'],
  ['geth', -32000, 'authority nonce too low', 'invalid'],

  ['nethermind', -32015, 'VM execution error.', 'reverted'],
  ['a contract that gives such words as its reason', -32000, 'execution reverted: already known, nonce too low', 'reverted'],

  ['anvil', -32602, 'Unknown transaction type not supported', 'invalid'],
  ['anvil, of a type it does not know', -32602, 'unknown transaction format', undefined],
  ['nethermind, of a wallet that sent something else', -32010, 'OwnNonceAlreadyUsed', undefined],
  ['zkSync, which may have it by now', 3, 'insertion of another transaction with the same nonce is in progress', undefined],
  ['proxyd', -32000, 'backend offline', undefined],
  ['a provider, of an account there', -32000, 'insufficient funds: top up your credits', undefined],
  ['a provider, of a plan', 429, 'account limit exceeded, upgrade your plan', undefined],
  ['a provider', -32000, 'request timed out', undefined],
  ['nobody', -32000, 'the moon is full', undefined],
]

describe('error messages of nodes', () => {
  for (const [node, code, message, means] of said) {
    it(`reads "${message}" (${code}) of ${node} as ${means ?? 'unknown'}`, () => {
      expect(sendErrorMeaning({ code, message })).to.equal(means)
    })
  }

  it('have a test for every pattern', () => {
    const silent = errorPatterns.filter(
      ({ says }) => !said.some(([, , message]) => errorPatterns.find((row) => row.says.test(message.toLowerCase()))?.says === says),
    )
    expect(silent.map(({ says }) => String(says))).to.deep.equal([])
  })

  it('have no meaning if no pattern fits', () => {
    const words = string().filter((text) => !errorPatterns.some(({ says }) => says.test(text.toLowerCase())))
    const codes = integer({ min: -33_000, max: 1000 })
    assert(property(codes, words, (code, message) => sendErrorMeaning({ code, message }) === undefined))
  })
})

describe('an error of a node', () => {
  const titleOf = ({ from, code, message, data, to }: NodeErrorRow) =>
    `"${message}" (${code}${data === undefined ? '' : `, ${JSON.stringify(data).slice(0, 60)}`}) of ${from}${to ? ` to ${to}` : ''}`

  for (const row of nodeErrorRows)
    it(`means ${row.is}: ${titleOf(row)}`, () => {
      const { code, message, data, to = 'eth_estimateGas', is, reason, isLimit } = row
      const fault = judge({ code, message, data }, to === 'batch' ? undefined : to)
      expect(fault.is).to.equal(is)
      if (fault.is === 'trouble') expect(fault.kind, row.from).to.equal(isLimit ? 'rate-limited' : 'unreachable')
      if (reason !== undefined) expect(revertReason(revertData({ message, data }))).to.equal(reason)
    })

  it('is no limit where it names block 429', () => {
    for (const [height, asked] of [
      [429, 430],
      [512, 429],
    ] as const) {
      const error = { code: -32602, message: `BlockOutOfRangeError: block height is ${height} but requested was ${asked}` }
      expect(judge(error, 'eth_getBalance')).to.deep.equal({ is: 'unsupported' })
      expect(saysLostHistory({ error: { ...error, fault: undefined } })).to.equal(true)
    }
    for (const message of ['429', 'HTTP 429', 'Request failed with status code 429', 'error code: 429', '429 Client Error'])
      expect(judge({ code: -32000, message }, 'eth_getBalance'), message).to.deep.equal({
        is: 'trouble',
        kind: 'rate-limited',
        ofNode: true,
      })
  })

  it('means the same to every method that executes something', () => {
    for (const { code, message, data, to, is } of nodeErrorRows)
      if (to === undefined)
        for (const method of ['eth_call', 'eth_estimateGas', 'eth_simulateV1', 'eth_createAccessList'])
          expect(judge({ code, message, data }, method).is, `${method}: ${message}`).to.equal(is)
  })

  it('is read by the beginning of its text, as a contract gives a reason of any length', () => {
    const long = 250_000
    expect(revertReason(revertData({ message: `execution reverted: a${' '.repeat(long)}b` }))).to.equal('a')
    const words = { batch: undefined, size: 'eth_estimateGas', limit: 'eth_getLogs', method: 'eth_call', state: 'eth_getBalance' }
    for (const [word, method] of Object.entries(words)) {
      const message = `${word} `.repeat(long / word.length)
      expect(judge({ code: -32000, message, data: { message } }, method).is, word).to.equal('trouble')
      expect(saysLostHistory({ error: { code: -32000, message } }), word).to.equal(false)
    }
  })

  it('means trouble where nobody knows the words, whatever the code', () => {
    const known = new Set([3, -32601, -32602, -38013, -38014])
    const codes = integer({ min: -33_000, max: 1000 }).filter((code) => !known.has(code))
    const words = string().filter((text) => !/[a-z]/i.test(text))
    assert(property(codes, words, (code, message) => judge({ code, message }, 'eth_estimateGas').is === 'trouble'))
  })
})
