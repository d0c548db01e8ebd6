import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '../../testkit/client.ts'
import { eventually } from './run.mjs'
import { startContainer } from './container.mjs'
import { freePort } from '../../test/free-port.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The operator's word, given on this machine, that a plugin may run in the server. Gives the file. */
export function trustPlugin(home, plugins, name) {
  cpSync(path.join(root, 'conf'), path.join(home, 'conf'), { recursive: true })
  const args = ['--home', home, '--set', `plugins.folders=plugins,${plugins}`, 'plugin', 'trust', name, '--yes', '--trusted']
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'bin', 'launch.mjs'), ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return path.join(home, 'sluice.lock')
}

/** Runs one command of the image to its end, on these volumes. */
export async function runCommand(
  { image, running, volumes, environment = {}, user = image.config.User, entrypoint = image.config.Entrypoint },
  args,
) {
  const container = startContainer({
    rootfs: image.rootfs,
    config: { ...image.config, Entrypoint: entrypoint },
    volumes,
    environment,
    args,
    user,
  })
  track(running, container)
  return { ...(await container.ended), output: container.output() }
}

/** The server on free ports of this machine; a client of it has the certificates of `bot`. */
export async function startServer({ image, running, volumes, bot, environment = {}, user = image.config.User }) {
  const port = await freePort()
  const variables = { SLUICE_SERVER_PORT: port, SLUICE_DEVNET_PORT: await freePort(), ...environment }
  const container = startContainer({ rootfs: image.rootfs, config: image.config, volumes, environment: variables, user })
  track(running, container)
  const url = `https://localhost:${port}`
  return {
    url,
    container,
    /** Waits for the summary of the start, when there are certificates too; gives a client. */
    async ready() {
      await eventually(
        () => {
          if (container.hasEnded()) throw new Error(`The server ended:\n${container.output()}`)
          return container.output().includes('is ready at')
        },
        180,
        container.output,
      )
      return createClient(url, bot)
    },
    /** As an engine asks it. */
    health() {
      const [, program, ...args] = image.config.Healthcheck.Test
      return runCommand({ image, running, volumes, environment: variables, user, entrypoint: [program] }, args)
    },
    /** As an engine stops it: the signal, and force where that was not enough. An engine waits for ten seconds, and this machine may be busy. */
    async stop() {
      container.signal(image.config.StopSignal)
      const force = setTimeout(() => void container.kill(), 30_000)
      const end = await container.ended
      clearTimeout(force)
      return end
    },
  }
}

/** The plugin-host service as the Compose file has it: `user`, capabilities and volumes. */
export async function startPluginHost({ image, running, compose, volumes }) {
  const container = startContainer({
    rootfs: image.rootfs,
    config: image.config,
    volumes,
    args: compose.command,
    user: compose.user,
    capabilities: compose.cap_add.map((name) => name.toLowerCase()),
    network: compose.network_mode,
  })
  track(running, container)
  await eventually(
    () => {
      if (container.hasEnded()) throw new Error(`The plugin-host service ended:\n${container.output()}`)
      return container.output().includes('for servers that connect')
    },
    120,
    container.output,
  )
  return container
}

function track(running, container) {
  running.add(container)
  void container.ended.then(() => running.delete(container))
}
