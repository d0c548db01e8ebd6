// The door of the room: what the rest of the server uses of finding, allowing, loading, containing and replacing plugins.
export { hookUpdate, registerHook } from './code/compile.ts'
export type { HookUpdate } from './code/hook.ts'
export { updateHook } from './code/module-hook.ts'
export { authorsStack, placeInStack } from './code/source-places.ts'
export { messageOf, messageWithPlace } from './code/thrown.ts'
export { blockProcessExit, handleUncaught, logWarnings } from './code/uncaught.ts'
export { startWatchdog } from './code/watchdog.ts'
export { changedFiles, examine, forget, isConfNewer, pluginOnDisk, record, verify, type PluginOnDisk } from './consent/allow.ts'
export { allowedForCommand, allowedPlugins, isSandbox, type AllowedPlugins } from './consent/consent.ts'
export { declaredCode, declaredDevnet } from './discover/declared.ts'
export { declaredFile, findPlugins, inspectPlugin, isDeclared, namePattern, pluginNames, type FoundPlugin } from './discover/find.ts'
export { outlineOf } from './discover/outline.ts'
export { readPluginFiles } from './discover/plugin-files.ts'
export { dotNameIn, putBackLeftovers, sourceOf, stagePlugin, type StagedPlugin } from './discover/stage.ts'
export {
  acceptsNone,
  findAcceptedBackend,
  findBackend,
  insideUpdate,
  uncontained,
  weaklyContained,
  whyNotContained,
  type ContainmentSettings,
} from './isolate/backend.ts'
export { openChannel, otherEndGone } from './isolate/channel.ts'
export { channelDescriptor, type ContainedProcess } from './isolate/containment.ts'
export type { Bounds } from './isolate/frames.ts'
export { createHosts, type Hosts } from './isolate/hosts.ts'
export { excessOf } from './isolate/process-tree.ts'
export type { FollowPrice } from './isolate/remote-connector.ts'
export {
  maxHostedAnswerBytes,
  parametersOf,
  type CallerRights,
  type PermittedInterface,
  type PathOutline,
  type ServedCall,
  type ServedInterface,
} from './interface-paths.ts'
export { useOfEndpoint, type PathRights } from './interface-rights.ts'
export { leavesOf } from './isolate/sent-words.ts'
export { loadLater, requiredHere, type LateLoad } from './late.ts'
export { hostOptions, loadPlugins, pluginOptions, pluginWarnings, tryPlugins, type LoadResult } from './load.ts'
export type { LoadedChain, LoadedConnector, LoadedPlugin, LoadedVenue } from './loaded-plugin.ts'
export { lockOfStart, type LockOfStart } from './changes.ts'
export { createHotReload, type HotReload } from './hot-reload.ts'
export { PluginFault, faultOf, trustRemedy, withArticle, type Refusal } from './refusal.ts'
export { buildRegistry, transactionTargets } from './registry-entries.ts'
export {
  findNetworks,
  isInUse,
  notYet,
  tradingOf,
  type GrowingRegistry,
  type NetworkEntry,
  type PluginEntry,
  type Registry,
  type ShownLoss,
  type ShownQuarantine,
  type VenueEntry,
} from './registry.ts'
export { createRunningPlugins, type RunningPlugins } from './running.ts'
export { startVenues, type Venues } from './start-venue.ts'
