// Wallets: what they hold and are worth, how long their gas lasts, and who may take what of them.
import { Act, useMay } from './act.tsx'
import { post, type ResponseAt } from './api.ts'
import { useResource } from './resource.ts'
import { Section } from './section.tsx'
import { StopButtons } from './stops.tsx'
import { Table } from './table.tsx'
import { Address, Amount, Badge, Text } from './text.tsx'
import type { Transaction } from './transaction-words.ts'

type Portfolio = ResponseAt<'GET', '/portfolio'>
type WalletOf = Portfolio['networks'][number]['wallets'][number]
export interface PlacedWallet extends WalletOf {
  readonly chain: string
  readonly network: string
  readonly reference?: string | undefined
}
type Allowance = ResponseAt<'GET', '/allowances'>['allowances'][number]

/**
 * Nodes are asked for each balance: every other minute, and within a minute of a transaction. What may be liquidated or leave its range changes with
 * the market alone: each minute.
 */
export const usePortfolio = () =>
  useResource(
    '/portfolio',
    {},
    {
      everySeconds: (portfolio) => (portfolio && walletsIn(portfolio).every(hasNoPosition) ? 120 : 60),
      askAfter: { transactions: ({ final }) => final },
      pauseSeconds: 60,
    },
  )

const hasNoPosition = ({ liquidity, margin, perpetuals }: WalletOf): boolean =>
  [liquidity, margin, perpetuals].every((list) => list.length === 0)

export const walletsIn = ({ networks }: Portfolio): PlacedWallet[] =>
  networks.flatMap(({ chain, network, reference, wallets }) => wallets.map((wallet) => ({ chain, network, reference, ...wallet })))

/** Days of gas below which a person should do something. */
const lowGasDays = 3
export const isLowOnGas = ({ gas }: Pick<WalletOf, 'gas'>): boolean => gas?.daysLeft !== undefined && Number(gas.daysLeft) < lowGasDays
/** It can send nothing, whatever it used before. */
export const hasNoGas = ({ gas }: Pick<WalletOf, 'gas'>): boolean => gas !== undefined && Number(gas.balance) === 0

export const isEmpty = ({ balances, liquidity, shares, exchangeBalances, margin, perpetuals }: WalletOf): boolean =>
  [balances, liquidity, shares, exchangeBalances, margin, perpetuals].every((list) => list.length === 0)

export function Wallets() {
  const portfolio = usePortfolio()
  return (
    <>
      <Section title="Wallets" of={portfolio}>
        {(data) => {
          const wallets = walletsIn(data)
          const shown = wallets.filter((wallet) => !isEmpty(wallet))
          return (
            <>
              {shown.map((wallet) => (
                <Wallet key={`${wallet.chain}/${wallet.network}/${wallet.address}`} of={wallet} />
              ))}
              {shown.length < wallets.length && <p class="none">{wallets.length - shown.length} hold nothing.</p>}
              {(data.unavailable ?? []).map((each) => (
                <p class="refusal">
                  <Text of={`${each.chain}/${each.network} ${each.connector ?? ''} ${each.part ?? ''}: ${each.reason}`} />
                </p>
              ))}
            </>
          )
        }}
      </Section>
      <Allowances />
    </>
  )
}

function Wallet({ of: wallet }: { of: PlacedWallet }) {
  const { address, chain, network, value, reference, gas, balances, exchangeBalances } = wallet
  return (
    <article aria-label={`Wallet ${address} on ${chain}/${network}`}>
      <header>
        <h3>
          <Address of={address} /> <small>{`${chain}/${network}`}</small>
        </h3>
        <span>
          Worth <Amount of={value} unit={reference} />
        </span>
        {gas && (
          <span>
            {hasNoGas(wallet) ? (
              <>
                <Badge tone="bad">no gas</Badge> It has no <Text of={gas.symbol} max={32} />
              </>
            ) : (
              <>
                {isLowOnGas(wallet) && <Badge tone="warn">low on gas</Badge>} Gas lasts{' '}
                {gas.daysLeft === undefined ? 'long: none was used' : daysInWords(gas.daysLeft)}
              </>
            )}
          </span>
        )}
        <StopButtons scope={{ address }} name={`wallet ${address}`} />
      </header>
      <Table
        caption={`Balances of ${address}`}
        none="No balance."
        rows={[
          ...balances.map((each) => ({ ...each, where: 'wallet' })),
          ...exchangeBalances.map(({ total, connector, ...each }) => ({ ...each, amount: total, token: each.symbol, where: connector })),
        ]}
        keyOf={({ where, token }) => `${where} ${token}`}
        columns={[
          { name: 'Token', cell: ({ symbol }) => <Text of={symbol} max={32} /> },
          { name: 'In', cell: ({ where }) => <Text of={where} /> },
          { name: 'Amount', end: true, cell: ({ amount }) => <Amount of={amount} /> },
          {
            name: 'Value',
            end: true,
            cell: (row) => (row.value === undefined ? <Text of={row.noValue ?? '–'} /> : <Amount of={row.value} unit={reference} />),
          },
        ]}
      />
    </article>
  )
}

const daysInWords = (days: string): string => (Number(days) > 3_650 ? 'more than ten years' : `${days} days`)

const givesRights = ({ kind, permits = [] }: Transaction): boolean => kind === 'approve' || permits.length > 0

function Allowances() {
  const allowances = useResource(
    '/allowances',
    {},
    {
      everySeconds: 120,
      // Nodes are asked for it. What a trade takes of an approval can wait; a new one, or one taken back, cannot.
      askAfter: { transactions: (told) => told.final && givesRights(told) },
      pauseSeconds: 15,
    },
  )
  const mayTrade = useMay('trade')
  return (
    <Section title="What others may take" of={allowances}>
      {({ allowances: rows, unavailable = [] }) => (
        <>
          {unavailable.map(({ chain, network, address = '', reason }) => (
            <p class="refusal">
              <Text of={`What is approved is missing of ${address} ${chain}/${network}: ${reason}`} />
            </p>
          ))}
          <Table
            caption="Approvals of tokens"
            none="No spender that is known may take anything."
            rows={rows}
            keyOf={(row) => [row.chain, row.network, row.address, row.spender, row.token, row.tokenId, row.permit2].join(' ')}
            columns={[
              { name: 'Wallet', cell: ({ address }) => <Address of={address} /> },
              {
                name: 'Token',
                cell: ({ symbol, token }) => (symbol === undefined ? <Address of={token} /> : <Text of={symbol} max={32} />),
              },
              {
                name: 'Spender',
                cell: ({ connectors, spender }) => (
                  <>
                    {connectors.length > 0 ? <Text of={connectors.join(', ')} /> : <Badge tone="warn">no connector’s</Badge>}{' '}
                    <Address of={spender} />
                  </>
                ),
              },
              { name: 'May take', end: true, cell: (row) => <Taken of={row} /> },
              {
                name: 'At risk',
                end: true,
                cell: (row) => <Amount of={row.value ?? row.atRisk} unit={row.value === undefined ? undefined : row.reference} />,
              },
              { name: '', cell: (row) => mayTrade && isOfEvm(row) && <Revoke of={row} /> },
            ]}
          />
        </>
      )}
    </Section>
  )
}

/** Of a collection there is no amount: the right is over all that the wallet has in it, or over one. */
const positionsOf = (tokenId: string | undefined) =>
  tokenId === undefined ? 'all positions' : <Text of={`position ${tokenId}`} max={40} />

/** One half of a right by Permit2 takes nothing until there is the other. */
const Taken = ({ of: { unlimited, amount, dormant, tokenId } }: { of: Allowance }) => (
  <>
    {unlimited ? 'all' : amount === undefined ? positionsOf(tokenId) : <Amount of={amount} />}
    {dormant !== undefined && (
      <div>
        and <Amount of={dormant} /> once more is approved
      </div>
    )}
  </>
)

/** Its endpoint is for chains of the EVM, whose addresses have this form. */
const isOfEvm = ({ spender }: Allowance): boolean => /^0x[0-9a-fA-F]{40}$/.test(spender)

const Revoke = ({ of }: { of: Allowance }) => {
  // A connector may have several spenders.
  const what = `${of.symbol ?? of.token} from ${of.connectors[0] ?? 'nobody known'} ${of.spender}`
  return (
    <Act
      label="Revoke"
      about={what}
      danger
      question={
        <p>
          This takes back what <Text of={of.connectors.join(', ') || of.spender} /> may take of <Text of={of.symbol ?? of.token} />, by a
          transaction that costs gas. A bot that trades with it has to approve it again.
        </p>
      }
      act={async () => {
        const { chain, network, address, spender, token, tokenId } = of
        const { transactions } = await post('/evm/revoke', {
          chain,
          network,
          address,
          spender,
          token,
          ...(tokenId !== undefined && { tokenId }),
        })
        return `Sent: ${transactions.length} ${transactions.length === 1 ? 'transaction' : 'transactions'}.`
      }}
    />
  )
}
