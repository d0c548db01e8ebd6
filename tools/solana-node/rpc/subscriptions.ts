import type { Server } from 'node:http'
import type { Address, Commitment } from '@solana/kit'
import { acceptSockets, type Connection } from '../../hyperliquid-simulator/exchange/sockets.ts'
import { encodeMaybe, encodingOf } from './encode-account.ts'
import { addressOf, configOf, exactJson, RpcError, type Answer } from './protocol.ts'
import { inContext, type View } from './view.ts'

interface AccountSubscription {
  readonly of: Address
  readonly commitment: Commitment
  readonly encoding: ReturnType<typeof encodingOf>
  /** As it was told last, or when it was taken up; undefined until then. */
  last: string | undefined
}

const clock = 'SysvarC1ock11111111111111111111111111111111'

/** Takes websockets at the node's own URL: accounts are told when a block changed them (agave, rpc/src/rpc_subscriptions.rs). Ends when the returned function is called. */
export function serveSubscriptions(server: Server, view: View): () => void {
  const connections = new Set<Connection>()
  acceptSockets(
    server,
    () => view.options.subscriptions !== 'none',
    (connection) => {
      connections.add(connection)
      const forget = serveOne(view, connection)
      connection.onClose = () => {
        connections.delete(connection)
        forget()
      }
    },
    /^\/$/,
  )
  return () => {
    for (const each of connections) each.cut()
  }
}

function serveOne(view: View, connection: Connection): () => void {
  const subscriptions = new Map<number, AccountSubscription>()
  let next = 1
  const send = (answer: Answer) => connection.send(exactJson(answer))
  const read = ({ of, commitment, encoding }: Omit<AccountSubscription, 'last'>) => {
    const block = view.block(commitment)
    return { block, value: view.ledger.asOf(block, (svm) => encodeMaybe(svm, svm.getAccount(of), encoding)) }
  }

  function answer(method: unknown, [first, config]: readonly unknown[]): Answer {
    if (method === 'accountSubscribe') {
      const given = configOf(config)
      const made = { of: addressOf(first), commitment: given.commitment ?? 'finalized', encoding: encodingOf(given) }
      const { mostSubscriptions, subscriptions: which } = view.options
      if (subscriptions.size >= mostSubscriptions)
        throw new RpcError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached')
      const found = [...subscriptions].find(([, each]) => isSame(each, made))
      if (found) return found[0]
      subscriptions.set(next, { ...made, last: which === 'late' ? undefined : exactJson(read(made).value) })
      return next++
    }
    if (method === 'accountUnsubscribe') return subscriptions.delete(Number(first))
    throw new RpcError(-32601, 'Method not found')
  }

  function tell(): void {
    const { subscriptions: which } = view.options
    if (which === 'none') return connection.cut()
    if (which === 'silent') return undefined
    for (const [subscription, each] of subscriptions) {
      if (which === 'clock' && each.of !== clock) continue
      const { block, value } = read(each)
      const [now, last] = [exactJson(value), each.last]
      each.last = now
      if (last === undefined || now === last) continue
      send({ jsonrpc: '2.0', method: 'accountNotification', params: { result: inContext(block, value ?? closed), subscription } })
    }
    return undefined
  }

  connection.onText = (text) => {
    const { id = null, method, params = [] }: { id?: number | null; method?: unknown; params?: readonly unknown[] } = JSON.parse(text)
    try {
      send({ jsonrpc: '2.0', result: answer(method, params), id })
    } catch (error) {
      const { code, message } = error instanceof RpcError ? error : new RpcError(-32603, String(error))
      send({ jsonrpc: '2.0', error: { code, message }, id })
    }
  }
  return view.ledger.onBlock(tell)
}

/** Of equal parameters there is one on a connection. */
const isSame = (one: Omit<AccountSubscription, 'last'>, { of, commitment, encoding }: Omit<AccountSubscription, 'last'>) =>
  one.of === of && one.commitment === commitment && exactJson({ ...one.encoding }) === exactJson({ ...encoding })

/** As nodes tell of an account that is gone. */
const closed: Answer = {
  data: ['', 'base64'],
  executable: false,
  lamports: 0n,
  owner: '11111111111111111111111111111111',
  rentEpoch: 0n,
  space: 0,
}
