// For kits of chain families whose nodes speak JSON-RPC.
export type { Dialect, SeenHead } from './dialect.ts'
export type { Meter, Rpc, RpcAnswer, RpcCall, Sent, Signed } from './types.ts'
