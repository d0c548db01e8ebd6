/** A program without the zeros that fill its place: linkers write the table of sections last, and its place, the size of an entry and their number say where that ends. */
export function programBytes(data: Buffer): Buffer {
  const end = data.length < 64 ? 0n : data.readBigUInt64LE(0x28) + BigInt(data.readUInt16LE(0x3a) * data.readUInt16LE(0x3c))
  return end > 0n && end <= data.length ? data.subarray(0, Number(end)) : data
}
