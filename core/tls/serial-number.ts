import { randomBytes } from 'node:crypto'

/** A serial number as everything here compares it: upper-case hex without leading zeros (Node shows it so), colons or spaces. */
export function normalSerial(serial: string): string {
  return serial
    .replaceAll(/[:\s]/g, '')
    .replace(/^0+(?=.)/, '')
    .toUpperCase()
}

/** 126 random bits in 16 octets: positive, and always shown with 32 digits (RFC 5280 §4.1.2.2 wants at most 20 octets). */
export function newSerial(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes.toString('hex')
}
