// What the packages of Solana's programs say of where these are deployed; the packages themselves are not needed.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const programs = {
  // From 0.11 on it speaks to another program, which is not on every network.
  'solana-memo': '@solana-program/memo@0.10.0',
  'solana-token-2022': '@solana-program/token-2022@0.15.0',
}

export const solanaPrograms = Object.entries(programs).map(([name, pack]) => ({
  pack,
  name,
  read(files) {
    const folder = path.join(files, 'dist/types/generated/programs')
    const text = readdirSync(folder)
      .filter((file) => file.endsWith('.d.ts'))
      .map((file) => readFileSync(path.join(folder, file), 'utf8'))
      .join('\n')
    const constants = [...text.matchAll(/declare const (\w+_PROGRAM_ADDRESS): Address<["'](\w+)["']>/g)]
    return Object.fromEntries(constants.map(([, constant, address]) => [constant, address]))
  },
}))
