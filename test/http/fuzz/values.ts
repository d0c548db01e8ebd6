import * as fc from 'fast-check'
import { admins, others } from '../shared-server.ts'

/** A value as it stands in a JSON body. A field may be there several times, and be called anything. */
export type RawJson = string

const prototypeKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'] as const

/** Words that mean something somewhere, and those that nearly do. */
const words = fc.constantFrom(
  ...prototypeKeys,
  'ethereum',
  'local',
  'mainnet',
  'sepolia',
  'uniswap',
  'sushiswap',
  'uniswap/v2',
  'WETH',
  'usdc',
  'ETH',
  'USDT',
  'TWIN',
  'BUY',
  'LONG',
  'short',
  'perp',
  'USD',
  'sell',
  'v2',
  admins,
  others,
  admins.toLowerCase(),
  `0x${'0'.repeat(40)}`,
  `0x${'f'.repeat(40)}`,
  `0x${'ab'.repeat(32)}`,
  '../../etc/passwd',
  "' OR 1=1 --",
  '${jndi:ldap://x}',
  '<script>',
  'null',
  'undefined',
  '%00',
  '{}',
  '[]',
  '["WETH"',
  '[1]',
)
const decimals = fc.constantFrom(
  '0',
  '-1',
  '1',
  '0.001',
  '1e-3',
  '1E99',
  '1e-99',
  '1e400',
  '-0',
  '+1',
  '.5',
  '5.',
  '1,5',
  '١٢',
  'NaN',
  'Infinity',
  '-Infinity',
  '0x10',
  '1/200',
  '1/0',
  '0/1',
  '999999999/1',
  '9'.repeat(80),
  '9'.repeat(81),
  `0.${'0'.repeat(119)}1`,
  `1.${'0'.repeat(100)}`,
)
const control = fc.constantFrom(
  '\0',
  '\x01\x02',
  'a\0b',
  '\r\n',
  'x\r\nX-Injected: 1',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\udc00x',
  'ﷺ',
  '👩‍👩‍👧‍👦',
  'ｗｅｔｈ',
  'WЕTH',
)
const long = fc.integer({ min: 257, max: 20_000 }).map((length) => 'x'.repeat(length))

const texts = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 3, arbitrary: decimals },
  { weight: 2, arbitrary: control },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 300 }) },
  { weight: 1, arbitrary: long },
)

/** Numbers as JSON writes them; of the whole ones none that is a nonce of the near future. */
const numbers = fc.constantFrom(
  '0',
  '-1',
  '-0',
  '1.5',
  '0.1',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740991',
  '9007199254740993',
  '1.0000000000000001',
  '1e3',
  '99999999999999999999999',
  '20000000000',
)
const depth = fc.constantFrom('['.repeat(2000) + ']'.repeat(2000), '{"a":'.repeat(2000) + '1' + '}'.repeat(2000))

const anyText = texts.map((text) => JSON.stringify(text))
const lists = fc
  .array(fc.oneof(anyText, numbers, fc.constant('null'), fc.constant('[]')), { maxLength: 5 })
  .map((items) => `[${items.join(',')}]`)
const objects = fc
  .tuple(fc.constantFrom(...prototypeKeys, 'length', 'a'), anyText)
  .map(([key, value]) => `{${JSON.stringify(key)}:${value}}`)

export const jsonValues: fc.Arbitrary<RawJson> = fc.oneof(
  { weight: 8, arbitrary: anyText },
  { weight: 3, arbitrary: numbers },
  { weight: 2, arbitrary: lists },
  { weight: 1, arbitrary: objects },
  { weight: 1, arbitrary: fc.constantFrom('true', 'false', 'null', '""') },
  { weight: 1, arbitrary: depth },
)
export const queryValues: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: texts.map(encode) },
  { weight: 2, arbitrary: lists.map(encode) },
  { weight: 2, arbitrary: fc.constantFrom('', '%', '%zz', '%c3%28', '%ff%fe', '%00', '+', '%2B', 'a%', '%u0041') },
)
export const otherNames = fc.oneof(
  fc.constantFrom(...prototypeKeys, 'Chain', 'chain ', 'chain[0]', 'chain[]', '', 'networks', '$where', 'a.b'),
  fc.string({ maxLength: 40 }),
)

/** For a query; half characters have no encoding. */
export function encode(text: string): string {
  return encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/gu, '\ufffd'))
}
