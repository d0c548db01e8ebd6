import { Type, type Static, type TSchema } from 'typebox'

const closed = <P extends Record<string, TSchema>>(properties: P) => Type.Object(properties, { additionalProperties: false })
const seconds = (value: number, description: string) => Type.Number({ exclusiveMinimum: 0, maximum: 3600, default: value, description })
const count = (value: number, description: string) => Type.Integer({ minimum: 1, default: value, description })
const port = (value: number, description: string) => Type.Integer({ minimum: 0, maximum: 65535, default: value, description })
/** A path; a relative one is resolved against the home folder. */
const path = (value: string, description: string) => Type.String({ minLength: 1, default: value, description })

/** `conf/server.yml`: type, defaults, validation and documentation in one. */
export const serverSchema = closed({
  server: closed({
    host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 is every one of the machine' }),
    port: port(15888, 'Port of the HTTPS listener; 0 is any free one'),
    requestTimeoutSeconds: seconds(30, 'How long a request may take before it is answered with TIMEOUT'),
    drainSeconds: seconds(6, 'How long requests under way may go on after a stop was asked for'),
  }),
  plugins: closed({
    folders: Type.Array(path('plugins', 'Folder of plugins, or of one'), {
      minItems: 1,
      default: ['plugins'],
      description: 'Where plugins are looked for',
    }),
    disabled: Type.Array(Type.String({ minLength: 1 }), {
      uniqueItems: true,
      default: [],
      description: 'Names of plugins that are not to be loaded',
    }),
  }),
  data: closed({
    dir: path('data', 'Folder of the keystore, the journal and the devnet'),
  }),
  store: closed({
    url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        description: 'PostgreSQL for several servers, postgres://…; absent: the embedded store in data.dir',
      }),
    ),
  }),
  wallet: closed({
    allowedSpenders: Type.Array(Type.String({ minLength: 1 }), {
      uniqueItems: true,
      default: [],
      description: 'Addresses besides the connectors’ that may be approved without the permission admin',
    }),
  }),
  devnet: closed({
    enabled: Type.Boolean({
      default: false,
      description: 'Whether the local chain is started; conf/server.yml of a fresh checkout says true',
    }),
    port: port(8545, 'Port of the local chain’s node'),
  }),
  log: closed({
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      default: 'info',
      description: 'The least serious level that is logged',
    }),
  }),
  market: closed({
    staleBlocks: count(
      2,
      'What is kept in memory of a chain is shown until it is more blocks behind than that, and 2 s by their time; then it is an error',
    ),
    staleBlockSeconds: seconds(
      60,
      'What is kept in memory of a chain is shown until its newest block is older than that by this machine’s clock, and than ten blocks take; local networks have no such bound',
    ),
    staleSeconds: seconds(15, 'A book that an exchange tells of is shown until nothing was heard of it for so long; then it is an error'),
    checkSeconds: seconds(30, 'How often a sample of what is kept in memory is compared with the chain or the exchange'),
  }),
  limits: closed({
    bodyBytes: count(100_000, 'Largest request body, in bytes'),
    walletQueue: count(256, 'Requests of one wallet that may be under way on a network; beyond them 503'),
    inFlight: count(1024, 'Requests under way in the whole server; beyond them 503'),
    pageSize: count(500, 'Most entries in one page of a list'),
    pluginLoadSeconds: seconds(10, 'How long a plugin may take to load'),
    pluginStallSeconds: seconds(10, 'How long a plugin may block the process before the process is ended'),
  }),
})
export type ServerSettings = Static<typeof serverSchema>

/** `conf/ssl.yml`. */
export const sslSchema = closed({
  certsDir: path('certs', 'Folder of the certificates and keys'),
})
export type SslSettings = Static<typeof sslSchema>
