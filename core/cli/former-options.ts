// Options of commands that have another name by now. They are shown in no help, and go on to work.
import { Option } from 'commander'
import { complain } from './output.ts'

/** Before 0.3.0 `--as` was `--client` in `sluice tx` and `sluice plugin lift`; `--client` of `sluice stop` is whom it stops. */
export const formerAs = (): Option => new Option('--client <name>', 'the former name of --as').hideHelp()

/** The name of the certificate; undefined: the command chooses. */
export function certificateOf({ as, client }: { as: string | undefined; client: string | undefined }): string | undefined {
  if (client !== undefined) complain('warning: --client is called --as by now, as in all commands, and goes away with a later version.')
  return as ?? client
}
