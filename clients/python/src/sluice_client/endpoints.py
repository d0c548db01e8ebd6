"""The endpoints' types. Written by `node --import tsx tools/python-client.ts`: change their declarations in core/api."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypedDict, Union, final, overload

INTERFACE_VERSION = "1.4.0"

# Of a token, or a price: exact. A float is refused.
Amount = Union[str, int, Decimal]


@final
class StatusRequest(TypedDict, total=False):
    pass


@final
class StatusResponse(TypedDict):
    status: Literal["ok"]


@final
class ConnectorsRequest(TypedDict, total=False):
    pass


@final
class ConnectorsResponseEntry(TypedDict):
    chain: str
    networks: list[str]


ConnectorsResponse = dict[str, list[ConnectorsResponseEntry]]


@final
class PluginsRequest(TypedDict, total=False):
    pass


@final
class PluginsResponseEntryAvailable_networks(TypedDict):
    chain: str
    networks: list[str]


class _PluginsResponseEntryEarlier(TypedDict):
    version: str


@final
class PluginsResponseEntryEarlier(_PluginsResponseEntryEarlier, total=False):
    sha256: str


class _PluginsResponseEntryQuarantineLost(TypedDict):
    token: str  # Its address; the zero address for the native coin.
    amount: str  # A decimal string; in smallest units where the symbol is missing, since the decimals are not known.
    how: Literal["taken"] | Literal["not brought"]  # taken: it left the wallet beyond what the plan was allowed to take. not brought: so much of what it had to bring is missing.


@final
class PluginsResponseEntryQuarantineLost(_PluginsResponseEntryQuarantineLost, total=False):
    symbol: str


class _PluginsResponseEntryQuarantine(TypedDict):
    since: float  # Milliseconds since the Unix epoch.
    chain: str
    network: str
    lost: list[PluginsResponseEntryQuarantineLost]  # By the first of these transactions.
    breaches: int  # How many transactions did so since it was last lifted.


@final
class PluginsResponseEntryQuarantine(_PluginsResponseEntryQuarantine, total=False):
    txHash: str  # The first of them. Only for who may use its wallet, and not in events.
    address: str  # The wallet. Only for who may use it, and not in events.


@final
class PluginsResponseEntryHost(TypedDict):
    deaths: int  # How often it has ended since the server started.


class _PluginsResponseEntry(TypedDict):
    name: str
    kind: Literal["chain"] | Literal["connector"] | Literal["interface"] | Literal["unknown"]
    version: str  # Its own word: in quotes where it is more than letters, digits and signs of versions.
    trading_type: list[str]
    available_networks: list[PluginsResponseEntryAvailable_networks]
    state: Literal["loaded"] | Literal["refused"] | Literal["pending"] | Literal["leaving"]  # pending: its process is started after the server is ready; then it is loaded or refused. leaving: it was removed or is being replaced; it takes no request any more, and reads what its open transactions bring.


@final
class PluginsResponseEntry(_PluginsResponseEntry, total=False):
    tier: Literal["built in"] | Literal["trusted"] | Literal["contained"] | Literal["data"]  # Of a loaded plugin: of this release, of a third party that the operator trusts, of any other, or data alone, without code.
    allowedBy: Literal["release"] | Literal["operator"] | Literal["nobody"]  # Who allowed it to run: the release, the operator in sluice.lock, or nobody, where a server only tries.
    sha256: str  # The hash of its files, where the operator allowed it.
    reason: str  # Why it was refused, and what to do about it.
    notTakenUp: str  # Why a change of it in sluice.lock is not in force, or its contracts are not on the devnet, and what to do about it. What ran before goes on.
    earlier: list[PluginsResponseEntryEarlier]  # Never given any more: no earlier version runs beside another one.
    deprecated: list[str]  # What it, or conf for it, still has of an earlier interface, and what to use instead.
    quarantine: PluginsResponseEntryQuarantine  # Nothing is signed for it: a mined transaction of it took more from a wallet, or brought less, than its plan was allowed. An operator lifts it.
    starting: list[str]  # Those of its networks that are not ready yet.
    host: PluginsResponseEntryHost  # The contained process that it runs in; absent where it runs in the server.


PluginsResponse = list[PluginsResponseEntry]


@final
class PluginsLiftRequest(TypedDict):
    plugin: str  # Its name.


class _PluginsLiftResponseLiftedLost(TypedDict):
    token: str  # Its address; the zero address for the native coin.
    amount: str  # A decimal string; in smallest units where the symbol is missing, since the decimals are not known.
    how: Literal["taken"] | Literal["not brought"]  # taken: it left the wallet beyond what the plan was allowed to take. not brought: so much of what it had to bring is missing.


@final
class PluginsLiftResponseLiftedLost(_PluginsLiftResponseLiftedLost, total=False):
    symbol: str


@final
class PluginsLiftResponseLifted(TypedDict):
    since: float
    chain: str
    network: str
    address: str
    txHash: str
    lost: list[PluginsLiftResponseLiftedLost]


@final
class PluginsLiftResponse(TypedDict):
    plugin: str
    lifted: list[PluginsLiftResponseLifted]  # The transactions for which it was quarantined, oldest first.


@final
class LimitsRequest(TypedDict, total=False):
    client: str  # Another client than the caller: the key of its entry in conf/clients.yml. Needs the permission admin.


class _LimitsResponseLimitsBasis(TypedDict):
    percent: str
    of: str


@final
class LimitsResponseLimitsBasis(_LimitsResponseLimitsBasis, total=False):
    atLeast: str


class _LimitsResponseLimits(TypedDict):
    limit: str  # Its key in `limits` of the client, such as `maxFee` or `allowed.tokens`.
    allowed: str  # A decimal in the unit, or a list.
    unit: str  # A symbol, `transactions`, `reference token`, `unit of account`, `%`, `times`, or `list`.


@final
class LimitsResponseLimits(_LimitsResponseLimits, total=False):
    default: Literal[True]  # The client has no such limit of its own: it is what settings of the server say.
    basis: LimitsResponseLimitsBasis  # Of a default: so many percent of this amount, and at least so much. Of maxDailyLoss it is what the wallets held when the rolling day began, of fees what gas costs at feeCap.
    window: Literal["hour"] | Literal["day"]
    used: str  # What was spent in the window, and what open transactions may still spend.
    left: str
    freesAt: int  # When all of it has left the window: milliseconds since 1970.
    chain: str
    network: str


class _LimitsResponse(TypedDict):
    client: str
    limits: list[LimitsResponseLimits]  # Empty where the client has none.


@final
class LimitsResponse(_LimitsResponse, total=False):
    problems: list[str]  # What its entry in conf/clients.yml names and the server does not know, or what allows nothing there: sentences. Absent where there is none.
    unlisted: Literal[True]  # The certificate of the client has no entry in conf/clients.yml.


@final
class LimitsCheckRequest(TypedDict, total=False):
    client: str  # Another client than the caller: the key of its entry in conf/clients.yml. Needs the permission admin.
    days: int  # How far back. Absent: 7.


@final
class LimitsCheckResponseHits(TypedDict):
    limit: str  # As a refusal names it.
    transactions: int  # How many it would have refused.
    first: int  # When the first of them was made: milliseconds since 1970.
    last: int
    txHash: str | None  # Of the last of them.


class _LimitsCheckResponse(TypedDict):
    client: str
    days: int
    transactions: int  # How many of the client were looked at.
    hits: list[LimitsCheckResponseHits]
    notTold: list[str]  # Limits of the client that the journal does not tell, of all transactions or of some: of these they were not looked at.


@final
class LimitsCheckResponse(_LimitsCheckResponse, total=False):
    problems: list[str]  # What its entry in conf/clients.yml names and the server does not know, or what allows nothing there: sentences. Absent where there is none.
    since: int  # Where there are too many for so many days: those from then on were looked at, milliseconds since 1970.


@final
class StopsRequest(TypedDict, total=False):
    pass


class _StopsResponseStops(TypedDict):
    mode: Literal["stop"] | Literal["reduce-only"]  # stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.
    of: Literal["all"] | Literal["wallet"] | Literal["client"]
    setBy: str  # The id of the client that set it.
    since: float  # Milliseconds since the Unix epoch.


@final
class StopsResponseStops(_StopsResponseStops, total=False):
    address: str  # Of a wallet.
    client: str  # The id of a client: the key of its entry in conf/clients.yml.
    reason: str
    file: str  # The file in the data folder of this server that says it. It is not in the store.


@final
class StopsResponse(TypedDict):
    stops: list[StopsResponseStops]  # Oldest first.


class _StopsPostRequest(TypedDict):
    mode: Literal["stop", "reduce-only"]  # stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.


@final
class StopsPostRequest(_StopsPostRequest, total=False):
    address: str  # One wallet. Without it, and without client, it is for all.
    client: str  # One client: the key of its entry in conf/clients.yml.
    reason: str  # Shown to whoever is refused.


class _StopsPostResponse(TypedDict):
    mode: Literal["stop"] | Literal["reduce-only"]  # stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.
    of: Literal["all"] | Literal["wallet"] | Literal["client"]
    setBy: str  # The id of the client that set it.
    since: float  # Milliseconds since the Unix epoch.


@final
class StopsPostResponse(_StopsPostResponse, total=False):
    address: str  # Of a wallet.
    client: str  # The id of a client: the key of its entry in conf/clients.yml.
    reason: str
    file: str  # The file in the data folder of this server that says it. It is not in the store.


@final
class StopsDeleteRequest(TypedDict, total=False):
    mode: Literal["stop", "reduce-only"]  # Without it both are lifted.
    address: str  # One wallet. Without it, and without client, it is for all.
    client: str  # One client: the key of its entry in conf/clients.yml.


class _StopsDeleteResponseLifted(TypedDict):
    mode: Literal["stop"] | Literal["reduce-only"]  # stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.
    of: Literal["all"] | Literal["wallet"] | Literal["client"]
    setBy: str  # The id of the client that set it.
    since: float  # Milliseconds since the Unix epoch.


@final
class StopsDeleteResponseLifted(_StopsDeleteResponseLifted, total=False):
    address: str  # Of a wallet.
    client: str  # The id of a client: the key of its entry in conf/clients.yml.
    reason: str
    file: str  # The file in the data folder of this server that says it. It is not in the store.


@final
class StopsDeleteResponse(TypedDict):
    lifted: list[StopsDeleteResponseLifted]  # Empty where none was in force.


@final
class HealthLiveRequest(TypedDict, total=False):
    pass


@final
class HealthLiveResponseFailing(TypedDict):
    part: str
    reason: str


class _HealthLiveResponse(TypedDict):
    status: Literal["ok"] | Literal["failing"]


@final
class HealthLiveResponse(_HealthLiveResponse, total=False):
    failing: list[HealthLiveResponseFailing]


@final
class HealthReadyRequest(TypedDict, total=False):
    pass


@final
class HealthReadyResponseFailing(TypedDict):
    part: str
    reason: str


@final
class HealthReadyResponseMarket(TypedDict):
    chain: str
    network: str
    seconds: float  # Until clients without the permission thin can trade there, if its market is read until then.


class _HealthReadyResponse(TypedDict):
    status: Literal["ok"] | Literal["failing"]


@final
class HealthReadyResponse(_HealthReadyResponse, total=False):
    failing: list[HealthReadyResponseFailing]
    market: list[HealthReadyResponseMarket]  # Networks whose market was not read for long enough yet. Absent where there is none; the status says nothing of it.


@final
class WalletRequest(TypedDict, total=False):
    pass


class _WalletResponseEntry(TypedDict):
    chain: str
    address: str


@final
class WalletResponseEntry(_WalletResponseEntry, total=False):
    label: str


WalletResponse = list[WalletResponseEntry]


@final
class CallerRequest(TypedDict, total=False):
    pass


@final
class CallerResponseCertificates(TypedDict):
    name: str  # Of the client; `server` and `ca` are those of the server.
    expiresAt: float  # Milliseconds since the Unix epoch.


class _CallerResponse(TypedDict):
    client: str  # Its key in conf/clients.yml; of a certificate without an entry its common name.
    permissions: list[str]  # Later versions may add others.
    clients: list[str]  # Whose limits it may ask for: itself, and with admin all of conf/clients.yml.
    version: str  # Of the server's release.


@final
class CallerResponse(_CallerResponse, total=False):
    unlisted: Literal[True]  # The certificate has no entry in conf/clients.yml.
    certificates: list[CallerResponseCertificates]  # When certificates end that are not revoked, the newest of each name: its own and those of the server, with admin all that the folder `certs` knows. Absent where that cannot be read.


@final
class AlertsRequest(TypedDict, total=False):
    pass


class _AlertsResponseAlerts(TypedDict):
    rule: str
    title: str  # The rule in a few words.
    severity: str  # info, warning or critical.
    subject: str  # What it is about: a wallet, a transaction, a node.
    words: str
    remedy: str  # What to do.
    since: float  # When it was seen first: milliseconds since the Unix epoch.


@final
class AlertsResponseAlerts(_AlertsResponseAlerts, total=False):
    toldAt: float  # When people were told. Absent: they were not yet, or it is silenced: milliseconds since the Unix epoch.
    silenced: Literal[True]


@final
class AlertsResponseFailing(TypedDict):
    rule: str
    title: str  # The rule in a few words.
    since: float  # Since when: milliseconds since the Unix epoch.
    reason: str


class _AlertsResponseSilences(TypedDict):
    until: float  # Until when: milliseconds since the Unix epoch.
    setBy: str  # The id of the client that set it.


@final
class AlertsResponseSilences(_AlertsResponseSilences, total=False):
    rule: str  # Absent: all rules.
    subject: str  # Absent: all that the rule finds.
    reason: str


class _AlertsResponseChannels(TypedDict):
    name: str
    waiting: int  # Messages that are not delivered yet.


@final
class AlertsResponseChannels(_AlertsResponseChannels, total=False):
    reason: str  # Why the last one that was tried was not delivered, or not to everybody.
    deliveredAt: float  # When the last one was delivered: milliseconds since the Unix epoch.


class _AlertsResponse(TypedDict):
    enabled: bool  # Whether the server looks for anything: it has conf/alerts.yml. Without it all else is empty.
    alerts: list[AlertsResponseAlerts]  # Those that last, oldest first: at most 1000, of more the most urgent.
    total: int  # How many there are.
    silences: list[AlertsResponseSilences]
    channels: list[AlertsResponseChannels]


@final
class AlertsResponse(_AlertsResponse, total=False):
    failing: list[AlertsResponseFailing]  # Rules by which this server cannot look at all that they are about: of that nothing new is told.


class _AlertsSilencesPostRequest(TypedDict):
    minutes: int  # For how long.


@final
class AlertsSilencesPostRequest(_AlertsSilencesPostRequest, total=False):
    rule: str  # One rule, by its name in conf/alerts.yml. Without it all rules.
    subject: str  # One subject of the rule, as `GET /alerts` shows it. Without it all of them.
    reason: str  # Shown to whoever asks.


class _AlertsSilencesPostResponse(TypedDict):
    until: float  # Until when: milliseconds since the Unix epoch.
    setBy: str  # The id of the client that set it.


@final
class AlertsSilencesPostResponse(_AlertsSilencesPostResponse, total=False):
    rule: str  # Absent: all rules.
    subject: str  # Absent: all that the rule finds.
    reason: str


@final
class AlertsSilencesDeleteRequest(TypedDict, total=False):
    rule: str  # One rule, by its name in conf/alerts.yml. Without it all rules.
    subject: str  # One subject of the rule, as `GET /alerts` shows it. Without it all of them.


class _AlertsSilencesDeleteResponseLifted(TypedDict):
    until: float  # Until when: milliseconds since the Unix epoch.
    setBy: str  # The id of the client that set it.


@final
class AlertsSilencesDeleteResponseLifted(_AlertsSilencesDeleteResponseLifted, total=False):
    rule: str  # Absent: all rules.
    subject: str  # Absent: all that the rule finds.
    reason: str


@final
class AlertsSilencesDeleteResponse(TypedDict):
    lifted: list[AlertsSilencesDeleteResponseLifted]  # Empty where there was none.


@final
class AlertsTestRequest(TypedDict, total=False):
    channel: str  # One channel, by its name in conf/alerts.yml. Without it all of them.


@final
class AlertsTestResponse(TypedDict):
    channels: list[str]  # Those that a message waits for now: `GET /alerts` says what became of it.


@final
class ApprovalsRequest(TypedDict, total=False):
    id: int  # `id` in `GET /approvals`, and in the details of PENDING_APPROVAL.
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # Only those in this state.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _ApprovalsResponseApprovalsEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsResponseApprovalsEffectGives(_ApprovalsResponseApprovalsEffectGives, total=False):
    symbol: str


class _ApprovalsResponseApprovalsEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsResponseApprovalsEffectGets(_ApprovalsResponseApprovalsEffectGets, total=False):
    symbol: str


@final
class ApprovalsResponseApprovalsEffect(TypedDict, total=False):
    gives: list[ApprovalsResponseApprovalsEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsResponseApprovalsEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsResponseApprovalsRefusal(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsResponseApprovalsRefusal(_ApprovalsResponseApprovalsRefusal, total=False):
    details: Any


class _ApprovalsResponseApprovals(TypedDict):
    id: int
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.
    client: str  # Who asked.
    path: str  # Of its endpoint.
    address: str  # Its wallet.
    request: dict[str, Any]  # Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.
    effect: ApprovalsResponseApprovalsEffect  # What it did when it began to wait.
    madeAt: float  # Milliseconds since the Unix epoch.
    expiresAt: float  # Milliseconds since the Unix epoch.
    requestId: str  # Its transactions have it, too: `GET /transactions?requestId=…`.
    idempotencyKey: str  # Its own, or the one that the server made for it.


@final
class ApprovalsResponseApprovals(_ApprovalsResponseApprovals, total=False):
    revoked: bool  # In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.
    decidedBy: str  # The client that approved, denied or withdrew it.
    decidedAt: float  # Milliseconds since the Unix epoch.
    answer: dict[str, Any]  # Of a request that is done: what its endpoint answered.
    refusal: ApprovalsResponseApprovalsRefusal  # Of one that is refused: the error that its Idempotency-Key gets.


class _ApprovalsResponse(TypedDict):
    approvals: list[ApprovalsResponseApprovals]  # Newest first.
    mayDecide: bool  # Whether the caller has the permission approve.


@final
class ApprovalsResponse(_ApprovalsResponse, total=False):
    nextCursor: str  # There may be more: request them with this as `cursor`.


@final
class ApprovalsPreviewRequest(TypedDict):
    id: int  # `id` in `GET /approvals`, and in the details of PENDING_APPROVAL.


class _ApprovalsPreviewResponseApprovalEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsPreviewResponseApprovalEffectGives(_ApprovalsPreviewResponseApprovalEffectGives, total=False):
    symbol: str


class _ApprovalsPreviewResponseApprovalEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsPreviewResponseApprovalEffectGets(_ApprovalsPreviewResponseApprovalEffectGets, total=False):
    symbol: str


@final
class ApprovalsPreviewResponseApprovalEffect(TypedDict, total=False):
    gives: list[ApprovalsPreviewResponseApprovalEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsPreviewResponseApprovalEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsPreviewResponseApprovalRefusal(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsPreviewResponseApprovalRefusal(_ApprovalsPreviewResponseApprovalRefusal, total=False):
    details: Any


class _ApprovalsPreviewResponseApproval(TypedDict):
    id: int
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.
    client: str  # Who asked.
    path: str  # Of its endpoint.
    address: str  # Its wallet.
    request: dict[str, Any]  # Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.
    effect: ApprovalsPreviewResponseApprovalEffect  # What it did when it began to wait.
    madeAt: float  # Milliseconds since the Unix epoch.
    expiresAt: float  # Milliseconds since the Unix epoch.
    requestId: str  # Its transactions have it, too: `GET /transactions?requestId=…`.
    idempotencyKey: str  # Its own, or the one that the server made for it.


@final
class ApprovalsPreviewResponseApproval(_ApprovalsPreviewResponseApproval, total=False):
    revoked: bool  # In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.
    decidedBy: str  # The client that approved, denied or withdrew it.
    decidedAt: float  # Milliseconds since the Unix epoch.
    answer: dict[str, Any]  # Of a request that is done: what its endpoint answered.
    refusal: ApprovalsPreviewResponseApprovalRefusal  # Of one that is refused: the error that its Idempotency-Key gets.


class _ApprovalsPreviewResponseEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsPreviewResponseEffectGives(_ApprovalsPreviewResponseEffectGives, total=False):
    symbol: str


class _ApprovalsPreviewResponseEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsPreviewResponseEffectGets(_ApprovalsPreviewResponseEffectGets, total=False):
    symbol: str


@final
class ApprovalsPreviewResponseEffect(TypedDict, total=False):
    gives: list[ApprovalsPreviewResponseEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsPreviewResponseEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsPreviewResponseError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsPreviewResponseError(_ApprovalsPreviewResponseError, total=False):
    details: Any


class _ApprovalsPreviewResponse(TypedDict):
    approval: ApprovalsPreviewResponseApproval


@final
class ApprovalsPreviewResponse(_ApprovalsPreviewResponse, total=False):
    effect: ApprovalsPreviewResponseEffect  # What it would do now, by a simulation at the node.
    error: ApprovalsPreviewResponseError  # Why it would be refused now.


@final
class ApprovalsApproveRequest(TypedDict):
    id: int  # `id` in `GET /approvals`, and in the details of PENDING_APPROVAL.


class _ApprovalsApproveResponseEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsApproveResponseEffectGives(_ApprovalsApproveResponseEffectGives, total=False):
    symbol: str


class _ApprovalsApproveResponseEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsApproveResponseEffectGets(_ApprovalsApproveResponseEffectGets, total=False):
    symbol: str


@final
class ApprovalsApproveResponseEffect(TypedDict, total=False):
    gives: list[ApprovalsApproveResponseEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsApproveResponseEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsApproveResponseRefusal(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsApproveResponseRefusal(_ApprovalsApproveResponseRefusal, total=False):
    details: Any


class _ApprovalsApproveResponse(TypedDict):
    id: int
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.
    client: str  # Who asked.
    path: str  # Of its endpoint.
    address: str  # Its wallet.
    request: dict[str, Any]  # Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.
    effect: ApprovalsApproveResponseEffect  # What it did when it began to wait.
    madeAt: float  # Milliseconds since the Unix epoch.
    expiresAt: float  # Milliseconds since the Unix epoch.
    requestId: str  # Its transactions have it, too: `GET /transactions?requestId=…`.
    idempotencyKey: str  # Its own, or the one that the server made for it.


@final
class ApprovalsApproveResponse(_ApprovalsApproveResponse, total=False):
    revoked: bool  # In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.
    decidedBy: str  # The client that approved, denied or withdrew it.
    decidedAt: float  # Milliseconds since the Unix epoch.
    answer: dict[str, Any]  # Of a request that is done: what its endpoint answered.
    refusal: ApprovalsApproveResponseRefusal  # Of one that is refused: the error that its Idempotency-Key gets.


@final
class ApprovalsDenyRequest(TypedDict):
    id: int  # `id` in `GET /approvals`, and in the details of PENDING_APPROVAL.


class _ApprovalsDenyResponseEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsDenyResponseEffectGives(_ApprovalsDenyResponseEffectGives, total=False):
    symbol: str


class _ApprovalsDenyResponseEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsDenyResponseEffectGets(_ApprovalsDenyResponseEffectGets, total=False):
    symbol: str


@final
class ApprovalsDenyResponseEffect(TypedDict, total=False):
    gives: list[ApprovalsDenyResponseEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsDenyResponseEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsDenyResponseRefusal(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsDenyResponseRefusal(_ApprovalsDenyResponseRefusal, total=False):
    details: Any


class _ApprovalsDenyResponse(TypedDict):
    id: int
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.
    client: str  # Who asked.
    path: str  # Of its endpoint.
    address: str  # Its wallet.
    request: dict[str, Any]  # Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.
    effect: ApprovalsDenyResponseEffect  # What it did when it began to wait.
    madeAt: float  # Milliseconds since the Unix epoch.
    expiresAt: float  # Milliseconds since the Unix epoch.
    requestId: str  # Its transactions have it, too: `GET /transactions?requestId=…`.
    idempotencyKey: str  # Its own, or the one that the server made for it.


@final
class ApprovalsDenyResponse(_ApprovalsDenyResponse, total=False):
    revoked: bool  # In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.
    decidedBy: str  # The client that approved, denied or withdrew it.
    decidedAt: float  # Milliseconds since the Unix epoch.
    answer: dict[str, Any]  # Of a request that is done: what its endpoint answered.
    refusal: ApprovalsDenyResponseRefusal  # Of one that is refused: the error that its Idempotency-Key gets.


@final
class ApprovalsWithdrawRequest(TypedDict):
    id: int  # `id` in `GET /approvals`, and in the details of PENDING_APPROVAL.


class _ApprovalsWithdrawResponseEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsWithdrawResponseEffectGives(_ApprovalsWithdrawResponseEffectGives, total=False):
    symbol: str


class _ApprovalsWithdrawResponseEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsWithdrawResponseEffectGets(_ApprovalsWithdrawResponseEffectGets, total=False):
    symbol: str


@final
class ApprovalsWithdrawResponseEffect(TypedDict, total=False):
    gives: list[ApprovalsWithdrawResponseEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsWithdrawResponseEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsWithdrawResponseRefusal(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsWithdrawResponseRefusal(_ApprovalsWithdrawResponseRefusal, total=False):
    details: Any


class _ApprovalsWithdrawResponse(TypedDict):
    id: int
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.
    client: str  # Who asked.
    path: str  # Of its endpoint.
    address: str  # Its wallet.
    request: dict[str, Any]  # Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.
    effect: ApprovalsWithdrawResponseEffect  # What it did when it began to wait.
    madeAt: float  # Milliseconds since the Unix epoch.
    expiresAt: float  # Milliseconds since the Unix epoch.
    requestId: str  # Its transactions have it, too: `GET /transactions?requestId=…`.
    idempotencyKey: str  # Its own, or the one that the server made for it.


@final
class ApprovalsWithdrawResponse(_ApprovalsWithdrawResponse, total=False):
    revoked: bool  # In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.
    decidedBy: str  # The client that approved, denied or withdrew it.
    decidedAt: float  # Milliseconds since the Unix epoch.
    answer: dict[str, Any]  # Of a request that is done: what its endpoint answered.
    refusal: ApprovalsWithdrawResponseRefusal  # Of one that is refused: the error that its Idempotency-Key gets.


@final
class TransactionsRequest(TypedDict, total=False):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    state: Literal["QUEUED", "SIGNED", "BROADCAST", "MINED", "CONFIRMED", "REVERTED", "REPLACED", "CANCELLED", "DROPPED", "OVERTAKEN", "EXPIRED"]  # Only those in this state, in any letter case.
    client: str  # Only those that this client asked for.
    kind: Literal["trade", "liquidity", "position", "collateral", "order", "order-cancel", "funds", "token-account", "approve", "wrap", "send", "cancel", "fill"]  # Only those of this kind.
    connector: str  # Name of a registered connector.
    pair: str  # Only those of these two tokens, in either order: trades, changes of liquidity, orders that one transaction placed in one market, and perpetuals, by the symbols of their tokens or as the request named them. A token that is in no list goes by its address: anybody can deploy one of any symbol. One that is listed, or was, goes by both, also for what was asked before it was.
    since: str  # Only those that were requested then or later. A date begins at midnight UTC.
    until: str  # Only those that were requested before.
    txHash: str  # Of any attempt, also of one that was replaced.
    idempotencyKey: str  # The Idempotency-Key of the request.
    requestId: str  # The X-Request-Id of the request.
    nonce: int  # Only those on this nonce: what was mined on it, and what was to be.
    archived: bool  # true: archived ones, too. A page may then have fewer entries than `limit`, or none, though there is a `nextCursor`. By txHash, idempotencyKey or requestId they are always listed, and as NDJSON or CSV unless this is false.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _TransactionsResponseTransactionsAttempts(TypedDict):
    txHash: str
    signedAt: float
    sends: float


@final
class TransactionsResponseTransactionsAttempts(_TransactionsResponseTransactionsAttempts, total=False):
    sentAt: float  # The last time that it was sent. Absent before the first, and in events.
    node: str  # The node that was the first to accept it when it was sent last. Absent where none did, of what an earlier version made, and in events.
    maxFee: str  # The most that it pays for its execution, in `feeToken`. Absent where its network is not there, or has no such fee.
    feeToken: str


@final
class TransactionsResponseTransactionsPermits(TypedDict):
    token: str  # Its address.
    spender: str
    amount: str
    expires: float  # Seconds since the Unix epoch.
    nonce: float  # Of Permit2, for this wallet, token and spender.
    state: str  # outstanding: whoever has seen the transaction may use it, whatever becomes of the transaction; used, or expired by the time of the blocks, once that is final.


@final
class TransactionsResponseTransactionsRequest(TypedDict):
    path: str
    fields: Any


class _TransactionsResponseTransactionsQuoteRoute(TypedDict):
    pool: str
    version: str
    tokenIn: str
    tokenOut: str


@final
class TransactionsResponseTransactionsQuoteRoute(_TransactionsResponseTransactionsQuoteRoute, total=False):
    fee: str  # Fraction of the input.
    share: str  # Fraction of the exact amount that takes this path, in hundredths, if the swap is split. The hops of one path come after those of the previous; each path begins with the input token. The last path takes the remainder of rounding.


class _TransactionsResponseTransactionsQuote(TypedDict):
    blockNumber: float
    source: Literal["memory", "rpc"]  # memory: no node was asked for it.
    route: list[TransactionsResponseTransactionsQuoteRoute]


@final
class TransactionsResponseTransactionsQuote(_TransactionsResponseTransactionsQuote, total=False):
    marketPrice: str  # Quote per one base by the market that limits hold trades against, over all connectors of the release, when it was planned: to SELL the highest, to BUY the lowest. Without such a market, of a request to any connector: the best price of those that were asked. Absent where neither was known.
    coinPrice: str  # Quote per one native coin when it was planned, rounded up. Absent where it was not known without asking.


class _TransactionsResponseTransactionsSimulated(TypedDict):
    token: str  # Its address; of one that is not counted in units `address/id`.
    rawAmount: str | None  # In the smallest unit. null: the native coin may have moved, and neither the receipt nor a balance told how much.


@final
class TransactionsResponseTransactionsSimulated(_TransactionsResponseTransactionsSimulated, total=False):
    symbol: str  # Absent of a token that is on no list.
    amount: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list.


@final
class TransactionsResponseTransactionsFill1(TypedDict):
    amountIn: str
    amountOut: str
    price: str


class _TransactionsResponseTransactionsFill2(TypedDict):
    tokenId: str
    liquidity: str  # Added or removed, an integer; 0 if only fees were collected.
    amount0: str  # In the order of the request's tokens; else in the pool's.
    amount1: str


@final
class TransactionsResponseTransactionsFill2(_TransactionsResponseTransactionsFill2, total=False):
    fees0: str  # Of what was removed or collected, the part that is fees: without liquidity that others had removed and left unpaid. Absent where the chain does not tell it, as of liquidity removed on v4.
    fees1: str
    lacksFees: bool  # true: the amounts may have liquidity that others had removed before, and the chain did not tell how much. `fees0` and `fees1` are absent then.


@final
class TransactionsResponseTransactionsFill3(TypedDict):
    pool: str
    shares: str  # Added or removed.
    tokens: list[str]  # Addresses, in the request's order; the zero address for the native coin.
    amounts: list[str]  # What the wallet paid to the pool, or the pool paid out, of each token.


class _TransactionsResponseTransactionsFill4(TypedDict):
    size: str  # In base.
    price: str  # Quote per one base, fees included.
    fee: str  # In quote.
    realizedProfit: str  # In quote: proceeds of the closed part less its cost, fees included. Below 0 is a loss.


@final
class TransactionsResponseTransactionsFill4(_TransactionsResponseTransactionsFill4, total=False):
    funding: str  # In quote: what was settled of the funding since the last change, beside the profit; below 0 it was paid. Absent where the receipt does not tell it.
    closedRatio: str  # Of a close: the fraction of the position that was closed, 1 for all of it.


class _TransactionsResponseTransactionsCost(TypedDict):
    rawFee: str  # In the native coin's smallest unit.


@final
class TransactionsResponseTransactionsCost(_TransactionsResponseTransactionsCost, total=False):
    fee: str  # In the native coin, the part of layer 1 with it. Absent where its network is not there.
    feeToken: str
    feeInQuote: str  # Of a trade: `fee` in its quote token, at `coinPrice`. Absent where that was not known.
    layer1Fee: str  # The part that a rollup charges for layer 1.
    gasUsed: str
    rent: str  # What accounts that it made keep of the native coin, beside `fee`, at most: on Solana. It comes back when they are closed. Absent where it made none, or its network is not there.


class _TransactionsResponseTransactionsSlippage(TypedDict):
    quote: str  # Against the price that was quoted.


@final
class TransactionsResponseTransactionsSlippage(_TransactionsResponseTransactionsSlippage, total=False):
    market: str  # Against `marketPrice`.


class _TransactionsResponseTransactionsMovements(TypedDict):
    token: str  # Its address; of one that is not counted in units `address/id`.
    rawAmount: str | None  # In the smallest unit. null: the native coin may have moved, and neither the receipt nor a balance told how much.


@final
class TransactionsResponseTransactionsMovements(_TransactionsResponseTransactionsMovements, total=False):
    symbol: str  # Absent of a token that is on no list.
    amount: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list.


class _TransactionsResponseTransactionsOrdersFills(TypedDict):
    tradeId: str
    price: str  # Quote per one base.
    amount: str  # In base.
    fee: str  # In `feeToken`; below 0 where the exchange paid.
    feeToken: str
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class TransactionsResponseTransactionsOrdersFills(_TransactionsResponseTransactionsOrdersFills, total=False):
    txHash: str


class _TransactionsResponseTransactionsOrders(TypedDict):
    clientOrderId: str
    market: str
    side: Literal["BUY", "SELL"]
    price: str  # The limit; of a MARKET order the worst price.
    amount: str  # In base, as ordered.
    fills: list[TransactionsResponseTransactionsOrdersFills]  # Oldest first, the newest 1,000: as far as they are known. They are learnt from the exchange by and by.


@final
class TransactionsResponseTransactionsOrders(_TransactionsResponseTransactionsOrders, total=False):
    orderId: str
    state: str  # As the exchange reported it last.
    filledAmount: str  # In base, as the exchange reported it last.
    averagePrice: str


@final
class TransactionsResponseTransactionsDelivery(TypedDict):
    lost: float  # Answers that did not reach their caller, or did not say what became of it.
    joined: float  # Equal requests that took the place of one whose answer was lost: they were not done again.
    state: Literal["open", "lost", "delivered", "uncollected"]  # open: a request waits for the answer. lost: an equal request would get it. uncollected: nobody asked again in time.


class _TransactionsResponseTransactions(TypedDict):
    id: str  # Of its row in the store, for ever. Ids sort by the time of the request, and one is a `cursor`: that of what is older.
    chain: str
    network: str
    address: str
    kind: str  # trade, liquidity, position (perpetual), collateral, order, order-cancel, funds (of an order book), token-account, approve, wrap (and unwrap), send, cancel, or fill: one of the server’s own that fills a nonce gap.
    txHash: str | None  # The mined one, or the newest. null before it is signed.
    nonce: float
    txState: str  # QUEUED, SIGNED, BROADCAST, MINED, CONFIRMED, REVERTED, REPLACED, CANCELLED, DROPPED, OVERTAKEN or EXPIRED. Later versions may add others: `final` says whether it is over.
    final: bool  # It never changes again.
    txStatus: float  # As in /network/poll, by what the journal knows.
    txBlock: float  # -1 until mined.
    attempts: list[TransactionsResponseTransactionsAttempts]  # Everything that was signed for it on its nonce: at most one of them is ever mined. Times in milliseconds since the Unix epoch.
    requestId: str
    createdAt: float  # Milliseconds since the Unix epoch.
    updatedAt: float  # Milliseconds since the Unix epoch.


@final
class TransactionsResponseTransactions(_TransactionsResponseTransactions, total=False):
    client: str  # Who asked for it: the key of its entry in conf/clients.yml. `sluice` is the server itself.
    connector: str
    signer: str  # Only of signed actions, which an exchange takes instead of transactions: the address whose key signed, the wallet’s own or an agent’s.
    replacedBy: str  # Hash of the transaction that replaces, or replaced, it.
    reason: str  # Why it was dropped, why the chain reverted it, or a node's last objection.
    idempotencyKey: str
    deadline: float  # Seconds since the Unix epoch. The chain refuses the trade after it.
    privateOnly: bool  # true: it goes to private relays only, and so does what replaces it.
    permits: list[TransactionsResponseTransactionsPermits]  # The rights that the wallet signed for it (`signedPermits`): the spender may take the amount of the token by Permit2.
    request: TransactionsResponseTransactionsRequest  # What was asked for, in its own words. Absent of what the server does by itself, and of what an earlier version made.
    planned: Any  # What its answer said that it does, without gas, nonce and hashes: of a trade `expectedAmount`, `price` and `limitPrice`, the worst price that the chain accepts. Of a plan with several transactions the last one has it.
    quote: TransactionsResponseTransactionsQuote  # Of a trade: what it was quoted by.
    simulated: list[TransactionsResponseTransactionsSimulated]  # What the whole plan would do to its wallet, by its simulation before it was signed: of connectors that are not built in. A contract may have done something else: `movements` has what it did.
    fill: TransactionsResponseTransactionsFill1 | TransactionsResponseTransactionsFill2 | TransactionsResponseTransactionsFill3 | TransactionsResponseTransactionsFill4
    cost: TransactionsResponseTransactionsCost  # What it cost, by its receipt, also where it failed. Once it is final.
    slippage: TransactionsResponseTransactionsSlippage  # Of a trade that is final: how much worse the price of its fill is, as a fraction. Below 0 it is better.
    movements: list[TransactionsResponseTransactionsMovements]  # What a final transaction moved into and out of its wallet, to the unit, by its receipt: without the fee, which is in `cost`. Absent on the own rail of an exchange, and of what an earlier version made final.
    orders: list[TransactionsResponseTransactionsOrders]  # Of an order: what was placed, and what was filled of it since. Only of transactions that are mined, or actions that the exchange has answered; not in /events.
    delivery: TransactionsResponseTransactionsDelivery  # Of a request without an Idempotency-Key by another interface, of which an answer was lost. Absent where none was.
    archived: bool  # true: it ended long ago and left the journal. This is its outcome; the archive has all of it.


@final
class TransactionsResponseUnavailable(TypedDict):
    id: str  # Of its row in the store, `key` of the table `entries` or `archived`.
    reason: str


class _TransactionsResponse(TypedDict):
    transactions: list[TransactionsResponseTransactions]  # Newest first.


@final
class TransactionsResponse(_TransactionsResponse, total=False):
    unavailable: list[TransactionsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    nextCursor: str  # There are more entries: request them with this as `cursor`.


class _TransactionsLine1Attempts(TypedDict):
    txHash: str
    signedAt: float
    sends: float


@final
class TransactionsLine1Attempts(_TransactionsLine1Attempts, total=False):
    sentAt: float  # The last time that it was sent. Absent before the first, and in events.
    node: str  # The node that was the first to accept it when it was sent last. Absent where none did, of what an earlier version made, and in events.
    maxFee: str  # The most that it pays for its execution, in `feeToken`. Absent where its network is not there, or has no such fee.
    feeToken: str


@final
class TransactionsLine1Permits(TypedDict):
    token: str  # Its address.
    spender: str
    amount: str
    expires: float  # Seconds since the Unix epoch.
    nonce: float  # Of Permit2, for this wallet, token and spender.
    state: str  # outstanding: whoever has seen the transaction may use it, whatever becomes of the transaction; used, or expired by the time of the blocks, once that is final.


@final
class TransactionsLine1Request(TypedDict):
    path: str
    fields: Any


class _TransactionsLine1QuoteRoute(TypedDict):
    pool: str
    version: str
    tokenIn: str
    tokenOut: str


@final
class TransactionsLine1QuoteRoute(_TransactionsLine1QuoteRoute, total=False):
    fee: str  # Fraction of the input.
    share: str  # Fraction of the exact amount that takes this path, in hundredths, if the swap is split. The hops of one path come after those of the previous; each path begins with the input token. The last path takes the remainder of rounding.


class _TransactionsLine1Quote(TypedDict):
    blockNumber: float
    source: Literal["memory", "rpc"]  # memory: no node was asked for it.
    route: list[TransactionsLine1QuoteRoute]


@final
class TransactionsLine1Quote(_TransactionsLine1Quote, total=False):
    marketPrice: str  # Quote per one base by the market that limits hold trades against, over all connectors of the release, when it was planned: to SELL the highest, to BUY the lowest. Without such a market, of a request to any connector: the best price of those that were asked. Absent where neither was known.
    coinPrice: str  # Quote per one native coin when it was planned, rounded up. Absent where it was not known without asking.


class _TransactionsLine1Simulated(TypedDict):
    token: str  # Its address; of one that is not counted in units `address/id`.
    rawAmount: str | None  # In the smallest unit. null: the native coin may have moved, and neither the receipt nor a balance told how much.


@final
class TransactionsLine1Simulated(_TransactionsLine1Simulated, total=False):
    symbol: str  # Absent of a token that is on no list.
    amount: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list.


@final
class TransactionsLine1Fill1(TypedDict):
    amountIn: str
    amountOut: str
    price: str


class _TransactionsLine1Fill2(TypedDict):
    tokenId: str
    liquidity: str  # Added or removed, an integer; 0 if only fees were collected.
    amount0: str  # In the order of the request's tokens; else in the pool's.
    amount1: str


@final
class TransactionsLine1Fill2(_TransactionsLine1Fill2, total=False):
    fees0: str  # Of what was removed or collected, the part that is fees: without liquidity that others had removed and left unpaid. Absent where the chain does not tell it, as of liquidity removed on v4.
    fees1: str
    lacksFees: bool  # true: the amounts may have liquidity that others had removed before, and the chain did not tell how much. `fees0` and `fees1` are absent then.


@final
class TransactionsLine1Fill3(TypedDict):
    pool: str
    shares: str  # Added or removed.
    tokens: list[str]  # Addresses, in the request's order; the zero address for the native coin.
    amounts: list[str]  # What the wallet paid to the pool, or the pool paid out, of each token.


class _TransactionsLine1Fill4(TypedDict):
    size: str  # In base.
    price: str  # Quote per one base, fees included.
    fee: str  # In quote.
    realizedProfit: str  # In quote: proceeds of the closed part less its cost, fees included. Below 0 is a loss.


@final
class TransactionsLine1Fill4(_TransactionsLine1Fill4, total=False):
    funding: str  # In quote: what was settled of the funding since the last change, beside the profit; below 0 it was paid. Absent where the receipt does not tell it.
    closedRatio: str  # Of a close: the fraction of the position that was closed, 1 for all of it.


class _TransactionsLine1Cost(TypedDict):
    rawFee: str  # In the native coin's smallest unit.


@final
class TransactionsLine1Cost(_TransactionsLine1Cost, total=False):
    fee: str  # In the native coin, the part of layer 1 with it. Absent where its network is not there.
    feeToken: str
    feeInQuote: str  # Of a trade: `fee` in its quote token, at `coinPrice`. Absent where that was not known.
    layer1Fee: str  # The part that a rollup charges for layer 1.
    gasUsed: str
    rent: str  # What accounts that it made keep of the native coin, beside `fee`, at most: on Solana. It comes back when they are closed. Absent where it made none, or its network is not there.


class _TransactionsLine1Slippage(TypedDict):
    quote: str  # Against the price that was quoted.


@final
class TransactionsLine1Slippage(_TransactionsLine1Slippage, total=False):
    market: str  # Against `marketPrice`.


class _TransactionsLine1Movements(TypedDict):
    token: str  # Its address; of one that is not counted in units `address/id`.
    rawAmount: str | None  # In the smallest unit. null: the native coin may have moved, and neither the receipt nor a balance told how much.


@final
class TransactionsLine1Movements(_TransactionsLine1Movements, total=False):
    symbol: str  # Absent of a token that is on no list.
    amount: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list.


class _TransactionsLine1OrdersFills(TypedDict):
    tradeId: str
    price: str  # Quote per one base.
    amount: str  # In base.
    fee: str  # In `feeToken`; below 0 where the exchange paid.
    feeToken: str
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class TransactionsLine1OrdersFills(_TransactionsLine1OrdersFills, total=False):
    txHash: str


class _TransactionsLine1Orders(TypedDict):
    clientOrderId: str
    market: str
    side: Literal["BUY", "SELL"]
    price: str  # The limit; of a MARKET order the worst price.
    amount: str  # In base, as ordered.
    fills: list[TransactionsLine1OrdersFills]  # Oldest first, the newest 1,000: as far as they are known. They are learnt from the exchange by and by.


@final
class TransactionsLine1Orders(_TransactionsLine1Orders, total=False):
    orderId: str
    state: str  # As the exchange reported it last.
    filledAmount: str  # In base, as the exchange reported it last.
    averagePrice: str


@final
class TransactionsLine1Delivery(TypedDict):
    lost: float  # Answers that did not reach their caller, or did not say what became of it.
    joined: float  # Equal requests that took the place of one whose answer was lost: they were not done again.
    state: Literal["open", "lost", "delivered", "uncollected"]  # open: a request waits for the answer. lost: an equal request would get it. uncollected: nobody asked again in time.


class _TransactionsLine1(TypedDict):
    id: str  # Of its row in the store, for ever. Ids sort by the time of the request, and one is a `cursor`: that of what is older.
    chain: str
    network: str
    address: str
    kind: str  # trade, liquidity, position (perpetual), collateral, order, order-cancel, funds (of an order book), token-account, approve, wrap (and unwrap), send, cancel, or fill: one of the server’s own that fills a nonce gap.
    txHash: str | None  # The mined one, or the newest. null before it is signed.
    nonce: float
    txState: str  # QUEUED, SIGNED, BROADCAST, MINED, CONFIRMED, REVERTED, REPLACED, CANCELLED, DROPPED, OVERTAKEN or EXPIRED. Later versions may add others: `final` says whether it is over.
    final: bool  # It never changes again.
    txStatus: float  # As in /network/poll, by what the journal knows.
    txBlock: float  # -1 until mined.
    attempts: list[TransactionsLine1Attempts]  # Everything that was signed for it on its nonce: at most one of them is ever mined. Times in milliseconds since the Unix epoch.
    requestId: str
    createdAt: float  # Milliseconds since the Unix epoch.
    updatedAt: float  # Milliseconds since the Unix epoch.


@final
class TransactionsLine1(_TransactionsLine1, total=False):
    client: str  # Who asked for it: the key of its entry in conf/clients.yml. `sluice` is the server itself.
    connector: str
    signer: str  # Only of signed actions, which an exchange takes instead of transactions: the address whose key signed, the wallet’s own or an agent’s.
    replacedBy: str  # Hash of the transaction that replaces, or replaced, it.
    reason: str  # Why it was dropped, why the chain reverted it, or a node's last objection.
    idempotencyKey: str
    deadline: float  # Seconds since the Unix epoch. The chain refuses the trade after it.
    privateOnly: bool  # true: it goes to private relays only, and so does what replaces it.
    permits: list[TransactionsLine1Permits]  # The rights that the wallet signed for it (`signedPermits`): the spender may take the amount of the token by Permit2.
    request: TransactionsLine1Request  # What was asked for, in its own words. Absent of what the server does by itself, and of what an earlier version made.
    planned: Any  # What its answer said that it does, without gas, nonce and hashes: of a trade `expectedAmount`, `price` and `limitPrice`, the worst price that the chain accepts. Of a plan with several transactions the last one has it.
    quote: TransactionsLine1Quote  # Of a trade: what it was quoted by.
    simulated: list[TransactionsLine1Simulated]  # What the whole plan would do to its wallet, by its simulation before it was signed: of connectors that are not built in. A contract may have done something else: `movements` has what it did.
    fill: TransactionsLine1Fill1 | TransactionsLine1Fill2 | TransactionsLine1Fill3 | TransactionsLine1Fill4
    cost: TransactionsLine1Cost  # What it cost, by its receipt, also where it failed. Once it is final.
    slippage: TransactionsLine1Slippage  # Of a trade that is final: how much worse the price of its fill is, as a fraction. Below 0 it is better.
    movements: list[TransactionsLine1Movements]  # What a final transaction moved into and out of its wallet, to the unit, by its receipt: without the fee, which is in `cost`. Absent on the own rail of an exchange, and of what an earlier version made final.
    orders: list[TransactionsLine1Orders]  # Of an order: what was placed, and what was filled of it since. Only of transactions that are mined, or actions that the exchange has answered; not in /events.
    delivery: TransactionsLine1Delivery  # Of a request without an Idempotency-Key by another interface, of which an answer was lost. Absent where none was.
    archived: bool  # true: it ended long ago and left the journal. This is its outcome; the archive has all of it.


@final
class TransactionsLine2(TypedDict):
    id: str
    unavailable: str  # Why this one is not shown: its row in the store is damaged.


TransactionsLine = Union[TransactionsLine1, TransactionsLine2]


class _TransactionsPruneRequest(TypedDict):
    olderThanDays: float  # Transactions that became final at least so long ago, in days in which servers ran.


@final
class TransactionsPruneRequest(_TransactionsPruneRequest, total=False):
    dryRun: bool  # true: only counts them.
    after: str  # `next` of the previous answer: it goes on from there.


class _TransactionsPruneResponse(TypedDict):
    archived: int  # Transactions that were moved; those that would be, with `dryRun`.
    kept: int  # Those that are old enough and stay: the newest of each wallet, those that placed an order which may be open, those whose nonce a transaction waits for, and damaged ones.
    folder: str  # The folder of the archive, on the server's machine.


@final
class TransactionsPruneResponse(_TransactionsPruneResponse, total=False):
    next: str  # There may be more: request them with this as `after`.


class _BooksVerifyRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.


@final
class BooksVerifyRequest(_BooksVerifyRequest, total=False):
    since: str  # The balances before this moment are the start: a date (UTC) or a moment with its zone. A day ago without it.
    until: str  # The balances before this moment are the end. Now without it: the newest block that is final.
    cursor: str  # `nextCursor` of the answer before: it goes on from there, and `since` and `until` do not count.
    tokens: list[str]  # Addresses of tokens that are on no list and are held against the chain all the same: with a `cursor`, those that the answers before had.


@final
class BooksVerifyResponseStart(TypedDict):
    blockNumber: float
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class BooksVerifyResponseEnd(TypedDict):
    blockNumber: float
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class BooksVerifyResponseRange(TypedDict):
    first: float
    last: float


class _BooksVerifyResponseTokens(TypedDict):
    token: str  # Its address.
    start: str
    own: str  # What the journal’s transactions moved, without fees.
    fees: str  # What they cost: 0 or less.
    foreign: str  # Of transactions that the journal does not know, with their fees.
    unexplained: str
    end: str


@final
class BooksVerifyResponseTokens(_BooksVerifyResponseTokens, total=False):
    symbol: str  # Absent: the contract does not tell, and amounts are in smallest units.


class _BooksVerifyResponseUnexplained(TypedDict):
    token: str  # Its address.
    kind: str  # `inside-a-call`: the native coin moved without being the value of a transaction. `without-event`: a balance changed and no event says so. `not-in-book`: the events of an own transaction say something else than the book. `taken-back`: an own transaction is in no block any more.
    amount: str  # Above 0 the wallet has more than is explained.
    firstBlock: float
    lastBlock: float  # The same as `firstBlock` where the block was found.


@final
class BooksVerifyResponseUnexplained(_BooksVerifyResponseUnexplained, total=False):
    symbol: str  # Absent: the contract does not tell, and amounts are in smallest units.
    txHash: str
    unknownTransactions: float  # Where the block was not found: so many transactions more than are known the wallet sent in these blocks, by its nonce.


@final
class BooksVerifyResponseTransactions(TypedDict):
    own: float
    foreign: float


@final
class BooksVerifyResponseLost(TypedDict):
    what: str  # `events` or `state`.
    before: float


class _BooksVerifyResponse(TypedDict):
    chain: str
    address: str
    start: BooksVerifyResponseStart
    end: BooksVerifyResponseEnd
    range: BooksVerifyResponseRange  # The blocks of all answers together, from the first request on: how far it is.
    tokens: list[BooksVerifyResponseTokens]  # Decimal strings. In each row `start` and the four that follow add up to `end`, to the unit.
    unexplained: list[BooksVerifyResponseUnexplained]
    transactions: BooksVerifyResponseTransactions
    unlistedTokens: float  # Tokens that are on no list and that no own transaction moved, which anybody can send: they are not held against their balances.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class BooksVerifyResponse(_BooksVerifyResponse, total=False):
    lost: BooksVerifyResponseLost  # What the nodes do not have any more before a block: it begins there.
    nextCursor: str  # More is to be checked. Absent: that was all.


@final
class BooksRequest(TypedDict, total=False):
    since: str  # Only what was requested then or later. A date begins at midnight UTC. Absent: all of it.
    until: str  # Only what was requested before.
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    client: str  # Only what this client asked for, and what the server signed because of it.
    connector: str  # Name of a registered connector.
    pair: str  # Only what is of these two tokens, in either order, as in /transactions.


@final
class BooksResponsePairsOpening(TypedDict):
    amount: str  # Of the base.
    cost: str  # Of the quote.


@final
class BooksResponsePairsRealized(TypedDict):
    averageCost: str
    fifo: str


@final
class BooksResponsePairsOpen(TypedDict):
    averageCost: str
    fifo: str


@final
class BooksResponsePairsOtherFees(TypedDict):
    token: str
    amount: str


@final
class BooksResponsePairsUnrealized(TypedDict):
    averageCost: str
    fifo: str


class _BooksResponsePairs(TypedDict):
    chain: str
    network: str
    base: str  # Its symbol; of a token that is on no list its address.
    quote: str
    trades: float  # With each fill of an order in a book.
    bought: str  # Of the base.
    spent: str  # Of the quote, for what was bought.
    sold: str  # Of the base.
    received: str  # Of the quote, for what was sold.
    position: str  # Bought less sold. Below 0 more was sold: a short position, whatever the wallet held before.
    realized: BooksResponsePairsRealized  # In quote: what was sold or bought back, less what that had cost; rounded down. Fees of order books included, without gas.
    open: BooksResponsePairsOpen  # In quote: what the position cost; of a short one what it brought.
    unrealized: BooksResponsePairsUnrealized | None


@final
class BooksResponsePairs(_BooksResponsePairs, total=False):
    connector: str  # Of fills of orders on an exchange whose tokens are not known to be those of the chain.
    opening: BooksResponsePairsOpening  # What was held before, by the setting `books.opening`: in `position`, `open` and `realized`, and in no sum of trades.
    otherFees: list[BooksResponsePairsOtherFees]  # What order books took in other tokens than the two, by symbol: no part of the profit. Below 0 they paid.
    noValue: str  # Why there is no price; absent where there is one.


class _BooksResponseTokens(TypedDict):
    chain: str
    network: str
    token: str  # Its address.
    rawNet: str  # In the smallest unit.


@final
class BooksResponseTokens(_BooksResponseTokens, total=False):
    symbol: str  # Absent of a token that is on no list.
    came: str
    left: str
    net: str  # Absent, as the two before, of a token that is on no list.


class _BooksResponseFees(TypedDict):
    chain: str
    network: str
    transactions: float  # Those that were mined, also those that failed.
    rawFee: str
    value: str | None  # What it is worth now at most, in the reference token of the network; null where that has no price.


@final
class BooksResponseFees(_BooksResponseFees, total=False):
    fee: str  # In the native coin. Absent where its network is not there.
    feeToken: str
    valueToken: str
    noValue: str  # Why there is no price; absent where there is one.


class _BooksResponsePerpetuals(TypedDict):
    chain: str
    network: str
    connector: str
    market: str
    fills: float
    fee: str  # In quote; of order books in the unit of account of the exchange.
    funding: str  # In quote: received less paid, as far as it is known.
    realizedProfit: str  # In quote, fees and funding included. Of order books wallet by wallet, by the average cost of what orders from `since` on filled: a position from before `since` has no cost in it. What others traded with the wallet is in none.


@final
class BooksResponsePerpetuals(_BooksResponsePerpetuals, total=False):
    noFunding: str  # Why `funding` lacks something; absent where it lacks nothing.
    liquidations: float  # Of the fills: what the exchange liquidated, by its events or by the fills that it tells, with its penalty in `fee`. On a chain of positions that the book has changed, or the newest changes before `since`; of order books in markets in which the wallet placed orders; absent where it is none, and of one client.
    lacksFills: str  # Why `fills`, `fee` and `realizedProfit` lack something: what was liquidated cannot be read, or is of blocks that are too old to be searched, or may be of positions that none of the 2,000 newest changes before `since` changed, or is of wallets in a book of one client, or the net of the fills is not the position that the exchange has. The latter is looked for in a book of all time and all clients alone.


class _BooksResponseLiquidityTokens(TypedDict):
    token: str  # Its address.
    paid: str  # In the smallest unit of a token that is on no list.
    received: str
    fees: str  # Fees that were collected, alone or with liquidity that was removed; they are in `received`, too.


@final
class BooksResponseLiquidityTokens(_BooksResponseLiquidityTokens, total=False):
    symbol: str  # Absent of a token that is on no list.


class _BooksResponseLiquidity(TypedDict):
    chain: str
    network: str
    connector: str
    position: str  # Its tokenId, or the pool of shares.
    closed: bool  # All that was added in this time was removed, or the chain says that it has ended.
    tokens: list[BooksResponseLiquidityTokens]
    againstHolding: str | None  # Of a closed one: what was received less what was paid in, at the prices of now, in the reference token. Below 0 holding the tokens would have been better. null where it is open, a token has no price, or nobody knows all that it moved.


@final
class BooksResponseLiquidity(_BooksResponseLiquidity, total=False):
    version: str  # The ids of each version are its own.
    ended: str  # How a position ended that no transaction of this book has closed, by the chain: `emptied`, `burnt`, or `given to` an address that is none of the wallets of this book.
    notCompared: str  # Why nobody could tell whether the chain still has it.
    lacksFees: bool  # true: removals have paid out fees that their receipts do not tell from the rest. `fees` lacks these.
    noValue: str  # Why there is no price; absent where there is one.


@final
class BooksResponseLacking(TypedDict):
    movements: float  # Of which nothing tells what they moved, as those of an earlier version.
    coin: float  # Which may have moved the native coin, and nobody could tell how much.
    fills: float  # Trades and changes of positions without a fill, which no pair, perpetual or position has; and orders of which more was filled than is known fill by fill.
    fees: float  # Whose receipt does not say what they cost.


class _BooksResponse(TypedDict):
    complete: bool  # false: it is still being read, and the lists are empty. Send the same request again.
    transactions: float  # How many were read, final or not.
    pairs: list[BooksResponsePairs]  # Trades and fills of orders, each pair by itself.
    tokens: list[BooksResponseTokens]  # What moved into and out of the wallets by all transactions, to the unit, without fees of the network.
    fees: list[BooksResponseFees]  # What the network took: gas, with the part of layer 1.
    perpetuals: list[BooksResponsePerpetuals]  # Perpetuals on a chain, and fills of orders in books of perpetuals.
    liquidity: list[BooksResponseLiquidity]
    lacking: BooksResponseLacking  # How many transactions the sums lack something of.


@final
class BooksResponse(_BooksResponse, total=False):
    damaged: float  # Those that cannot be read: the log names them. The sums lack them.
    readUntil: float  # Everything that was requested before was read: milliseconds since the Unix epoch.
    part: float  # How much of the time that was asked for was read, from 0 to 1.


@final
class BooksLine(TypedDict):
    part: str  # trades, moved, fees, perpetuals or liquidity; read: how much was read, and what the sums lack.
    network: str  # chain/network; empty where it is of all.
    name: str  # The pair, token, market or position.
    field: str  # Of the answer as JSON; `group.field` of one in a group.
    value: str


@final
class LedgerRequest(TypedDict, total=False):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Only changes of this wallet, also what other wallets of the server sent to it.
    client: str  # Only those that this client asked for.
    kind: Literal["trade", "liquidity", "position", "collateral", "order", "order-cancel", "funds", "token-account", "approve", "wrap", "send", "cancel", "fill"]  # Only those of this kind.
    connector: str  # Name of a registered connector.
    since: str  # Only those that were requested then or later. A date begins at midnight UTC.
    until: str  # Only those that were requested before.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _LedgerResponseLines(TypedDict):
    time: str  # Of the request, ISO 8601, UTC; of a `fill` when it was filled.
    wallet: str
    chain: str
    network: str
    kind: str  # As in /transactions.
    act: str  # What it was: buy, sell, wrap, unwrap, deposit, withdraw, add, remove, collect_fees, open, close, send, approve, order and the like.
    part: str  # moved: by the transaction itself. fee: what the network took. poolFees: of what a position paid out, the part that is fees. fill: an order was filled by somebody else’s transaction, or at an exchange. received: from another wallet of the server.
    token: str  # Its address, `address/id` of one that is not counted in units; at an exchange its symbol.
    id: str  # Of the transaction in /transactions.


@final
class LedgerResponseLines(_LedgerResponseLines, total=False):
    client: str
    connector: str
    heldBy: str  # The exchange whose account changed. Absent: the wallet itself on its chain.
    symbol: str  # Absent of a token that is on no list.
    change: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list, and with a `note`.
    rawChange: str  # In the smallest unit. Absent at an exchange, and with a `note`.
    counterparty: str  # Of a send: who gets it; of what was received, who sent it.
    position: str  # Of liquidity: the tokenId, or the pool of shares.
    order: str  # The clientOrderId of a fill.
    txHash: str
    block: float  # Absent of fills by others.
    note: str  # Why the change is not known: the sums lack it.


@final
class LedgerResponseUnavailable(TypedDict):
    id: str  # Of its row in the store. The sums lack it.
    reason: str


class _LedgerResponse(TypedDict):
    lines: list[LedgerResponseLines]  # Those of `limit` transactions, the newest first.


@final
class LedgerResponse(_LedgerResponse, total=False):
    unavailable: list[LedgerResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    nextCursor: str  # There are more: request them with this as `cursor`.


class _LedgerLine(TypedDict):
    time: str  # Of the request, ISO 8601, UTC; of a `fill` when it was filled.
    wallet: str
    chain: str
    network: str
    kind: str  # As in /transactions.
    act: str  # What it was: buy, sell, wrap, unwrap, deposit, withdraw, add, remove, collect_fees, open, close, send, approve, order and the like.
    part: str  # moved: by the transaction itself. fee: what the network took. poolFees: of what a position paid out, the part that is fees. fill: an order was filled by somebody else’s transaction, or at an exchange. received: from another wallet of the server.
    token: str  # Its address, `address/id` of one that is not counted in units; at an exchange its symbol.
    id: str  # Of the transaction in /transactions.


@final
class LedgerLine(_LedgerLine, total=False):
    client: str
    connector: str
    heldBy: str  # The exchange whose account changed. Absent: the wallet itself on its chain.
    symbol: str  # Absent of a token that is on no list.
    change: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list, and with a `note`.
    rawChange: str  # In the smallest unit. Absent at an exchange, and with a `note`.
    counterparty: str  # Of a send: who gets it; of what was received, who sent it.
    position: str  # Of liquidity: the tokenId, or the pool of shares.
    order: str  # The clientOrderId of a fill.
    txHash: str
    block: float  # Absent of fills by others.
    note: str  # Why the change is not known: the sums lack it.


@final
class NetworkStatusRequest(TypedDict, total=False):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    inUse: bool  # Whether networks are left out that nobody uses: those that are not required and that no request has named within a day. They are neither asked nor followed then.


class _NetworkStatusResponseEntryNodes(TypedDict):
    url: str  # Without its secrets.
    state: str  # good, or why another one is preferred or needed: slow, shaky, lagging, forked, unchecked, unreachable. Later versions may add others.
    inUse: bool  # It is the node that is asked now.
    reads: bool  # false: it only takes transactions.
    errorRate: float  # 0 to 1, over the most recent requests.


@final
class NetworkStatusResponseEntryNodes(_NetworkStatusResponseEntryNodes, total=False):
    latencyMs: float
    headNumber: float  # Its newest block, as it was seen last.
    lagBlocks: float  # Behind the best of the others.
    trouble: str  # Why it is not used.


class _NetworkStatusResponseEntry(TypedDict):
    chain: str
    network: str
    rpcUrl: str  # The node in use, without its secrets.
    currentBlockNumber: float  # -1 when the network is down.
    currentBlockSeconds: float  # Seconds since the last block; -1 when the network is down.
    nativeCurrency: str


@final
class NetworkStatusResponseEntry(_NetworkStatusResponseEntry, total=False):
    error: str
    nodes: list[NetworkStatusResponseEntryNodes]  # What is known of each node; none is asked for it. Absent of a network that tells nothing of its nodes.


NetworkStatusResponse = list[NetworkStatusResponseEntry]


@final
class NetworkChainConfigRequest(TypedDict):
    chain: str  # Name of a chain.


NetworkChainConfigResponse = dict[str, Any]


class _NetworkTokensRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.


@final
class NetworkTokensRequest(_NetworkTokensRequest, total=False):
    tokenSymbols: list[str]  # Symbols or addresses.


class _NetworkTokensResponseEntry(TypedDict):
    chain: str
    network: str
    symbol: str
    address: str
    decimals: float


@final
class NetworkTokensResponseEntry(_NetworkTokensResponseEntry, total=False):
    impostorOf: str  # Address of the listed token whose symbol this one has, or has in letters that look alike.


NetworkTokensResponse = list[NetworkTokensResponseEntry]


@final
class NetworkTokenRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    token: str  # Address of a token, listed or not.


class _NetworkTokenResponse(TypedDict):
    symbol: str  # The one of the list; else what the contract says, without what cannot be seen; the address where it says none.
    address: str
    decimals: float
    listed: bool  # Whether requests know it by its symbol.
    warnings: list[str]  # What is odd about it, for people. What others may do to a token, or to the account of a wallet that it is in, begins with a code that stays the same and a colon: `permanent-delegate: …`. On EVM chains nothing of that is read.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class NetworkTokenResponse(_NetworkTokenResponse, total=False):
    impostorOf: str  # Address of the listed token whose symbol this one has, or has in letters that look alike.


class _NetworkTokensAddRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    token: str  # Address of a token, listed or not.


@final
class NetworkTokensAddRequest(_NetworkTokensAddRequest, total=False):
    symbol: str  # In the place of the contract's, which may be empty, or that of another token.
    decimals: int  # What the caller expects: any other than the contract says is refused.


@final
class NetworkTokensAddResponse(TypedDict):
    symbol: str  # The one of the list; else what the contract says, without what cannot be seen; the address where it says none.
    address: str
    decimals: float
    listed: bool  # Whether requests know it by its symbol.
    added: bool  # false: it was on the list before.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class NetworkBalancesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    tokenSymbols: list[str]  # Symbols or addresses.


@final
class NetworkBalancesResponseUnavailable(TypedDict):
    token: str  # As in the request.
    reason: str


class _NetworkBalancesResponse(TypedDict):
    balances: dict[str, str]  # Token as in the request → decimal string.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class NetworkBalancesResponse(_NetworkBalancesResponse, total=False):
    unavailable: list[NetworkBalancesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _NetworkPollRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    txHash: str  # Hash (or signature) of a transaction.


@final
class NetworkPollRequest(_NetworkPollRequest, total=False):
    connector: str  # Name of a registered connector.


@final
class NetworkPollResponseFill1(TypedDict):
    amountIn: str
    amountOut: str
    price: str


class _NetworkPollResponseFill2(TypedDict):
    tokenId: str
    liquidity: str  # Added or removed, an integer; 0 if only fees were collected.
    amount0: str  # In the order of the request's tokens; else in the pool's.
    amount1: str


@final
class NetworkPollResponseFill2(_NetworkPollResponseFill2, total=False):
    fees0: str  # Of what was removed or collected, the part that is fees: without liquidity that others had removed and left unpaid. Absent where the chain does not tell it, as of liquidity removed on v4.
    fees1: str
    lacksFees: bool  # true: the amounts may have liquidity that others had removed before, and the chain did not tell how much. `fees0` and `fees1` are absent then.


@final
class NetworkPollResponseFill3(TypedDict):
    pool: str
    shares: str  # Added or removed.
    tokens: list[str]  # Addresses, in the request's order; the zero address for the native coin.
    amounts: list[str]  # What the wallet paid to the pool, or the pool paid out, of each token.


class _NetworkPollResponseFill4(TypedDict):
    size: str  # In base.
    price: str  # Quote per one base, fees included.
    fee: str  # In quote.
    realizedProfit: str  # In quote: proceeds of the closed part less its cost, fees included. Below 0 is a loss.


@final
class NetworkPollResponseFill4(_NetworkPollResponseFill4, total=False):
    funding: str  # In quote: what was settled of the funding since the last change, beside the profit; below 0 it was paid. Absent where the receipt does not tell it.
    closedRatio: str  # Of a close: the fraction of the position that was closed, 1 for all of it.


class _NetworkPollResponse(TypedDict):
    currentBlock: float  # -1 if no node answers: then only what the journal has as final is shown.
    txHash: str
    txStatus: float  # -1 unknown or dead, 0 accepted, 1 mined, 2 pending and pays enough, 3 pending and pays too little.
    txBlock: float  # -1 until mined; always -1 for signed actions, which are in no block.
    txData: Any  # The decoded transaction, or null.
    txReceipt: Any  # The receipt with the logs of known contracts decoded, or null.
    confirmations: float  # Blocks from its own to the newest; a lower bound if no node answers.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class NetworkPollResponse(_NetworkPollResponse, total=False):
    txState: str  # State in the journal; MINED where the chain has it in a block already. Later versions may add others.
    final: bool  # Whether that state never changes again.
    archived: bool  # true: the transaction ended long ago and left the journal. Its `fill` is the one that was journaled when it became final; one that an earlier version made may have none.
    replacedBy: str  # Hash of the transaction that replaces, or replaced, the requested one: the same at higher fees, or another.
    reason: str  # Why it was dropped, why the chain reverted it, or a node's last objection.
    cause: Literal["slippage"]  # The chain reverted it because the price had moved past its bound. Absent for any other reason.
    fill: NetworkPollResponseFill1 | NetworkPollResponseFill2 | NetworkPollResponseFill3 | NetworkPollResponseFill4
    fillMissing: str  # Why there is no `fill` of a transaction that may have brought something: only its plugin can read that, or no node has its receipt.


@final
class EVMAllowancesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    spender: str  # A registered connector's name, `name/label`, `any`, or an address. The name stands for what an AMM's swaps need, in as few transactions as possible: one router where one takes the routes of all versions. What takes liquidity has a label, such as `<name>/positions`. Of other connectors the name stands for the contracts that take tokens on this network: the market of an order book, and where funds are deposited first the contract that takes deposits, which need not be the one that opens positions. docs/bots/transactions.md has it for each connector. `any` stands for what swaps by the best of all built-in connectors need: each that has another allowance takes a transaction.
    tokenSymbols: list[str]  # Symbols or addresses.


@final
class EVMAllowancesResponseUnavailable(TypedDict):
    token: str  # As in the request.
    reason: str


class _EVMAllowancesResponsePermits(TypedDict):
    spender: str
    token: str  # Its address.
    amount: str
    expires: float  # Seconds since the Unix epoch.


@final
class EVMAllowancesResponsePermits(_EVMAllowancesResponsePermits, total=False):
    txHash: str  # Of the transaction that it was signed for.


class _EVMAllowancesResponse(TypedDict):
    spender: str  # The address that the name stands for; the first if it stands for several.
    approvals: dict[str, str]  # Token as in the request → decimal string; the smallest if the name stands for several spenders.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EVMAllowancesResponse(_EVMAllowancesResponse, total=False):
    unavailable: list[EVMAllowancesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    spenders: dict[str, dict[str, str]]  # All spenders of the connector that was named, where it has several.
    expiries: dict[str, dict[str, float]]  # Spender → token → seconds since the Unix epoch: when the allowance ends, for spenders that take tokens by Permit2. One that has ended counts as 0.
    permits: list[EVMAllowancesResponsePermits]  # What the wallet signed by `signedPermits` and what is neither used nor expired, beside the allowances.


@final
class EVMNonceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.


@final
class EVMNonceResponse(TypedDict):
    nonce: float  # The next nonce that the server would assign.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _EVMCancelRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.


@final
class EVMCancelRequest(_EVMCancelRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


@final
class EVMCancelResponse(TypedDict):
    txHash: str
    nonce: float
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _EVMSpeedUpRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.


@final
class EVMSpeedUpRequest(_EVMSpeedUpRequest, total=False):
    nonce: int  # Of the pending transaction. Absent: the lowest pending one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei. Absent: the lowest that the network accepts for a replacement.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei. Absent: the lowest that the network accepts for a replacement.


@final
class EVMSpeedUpResponse(TypedDict):
    txHash: str  # Of the new attempt. An earlier one may still be mined instead.
    nonce: float
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _EVMApproveRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    spender: str  # A registered connector's name, `name/label`, `any`, or an address. The name stands for what an AMM's swaps need, in as few transactions as possible: one router where one takes the routes of all versions. What takes liquidity has a label, such as `<name>/positions`. Of other connectors the name stands for the contracts that take tokens on this network: the market of an order book, and where funds are deposited first the contract that takes deposits, which need not be the one that opens positions. docs/bots/transactions.md has it for each connector. `any` stands for what swaps by the best of all built-in connectors need: each that has another allowance takes a transaction.
    token: str  # A symbol of the network's token list, or the address of a token.


@final
class EVMApproveRequest(_EVMApproveRequest, total=False):
    amount: Amount  # Absent: unlimited, which spenders of contained plugins do not get. 0 revokes, for any address.
    expires: int  # When the allowance ends, seconds since the Unix epoch; for spenders that take tokens by Permit2 only. Absent: never.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    dryRun: bool  # true: only says how many transactions it takes and what they cost. Nothing is signed, and hashes are empty.


@final
class EVMApproveResponseTransactions(TypedDict):
    spender: str
    nonce: float
    txHash: str


class _EVMApproveResponse(TypedDict):
    spender: str
    tokenAddress: str
    amount: str
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EVMApproveResponse(_EVMApproveResponse, total=False):
    transactionCount: int  # How many transactions it takes. Their gas is that of all together.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    transactions: list[EVMApproveResponseTransactions]


class _EVMRevokeRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    spender: str  # Address of the spender.
    token: str  # A symbol or the address of a token, or the address of a collection of positions.


@final
class EVMRevokeRequest(_EVMRevokeRequest, total=False):
    tokenId: str  # The one position that the spender may take. Absent: what it may take of all.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    dryRun: bool  # true: only says how many transactions it takes and what they cost. Nothing is signed, and hashes are empty.


@final
class EVMRevokeResponseTransactions(TypedDict):
    nonce: float
    txHash: str


class _EVMRevokeResponse(TypedDict):
    spender: str
    tokenAddress: str
    nonce: float  # Of the last transaction.
    txHash: str  # Of the last transaction.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    transactions: list[EVMRevokeResponseTransactions]  # Two where the spender takes the token both by itself and by Permit2. Their gas is that of all together.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EVMRevokeResponse(_EVMRevokeResponse, total=False):
    tokenId: str
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _EVMWrapRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    amount: Amount  # Of the token.


@final
class EVMWrapRequest(_EVMWrapRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _EVMWrapResponse(TypedDict):
    tokenAddress: str  # The zero address for the native coin.
    amount: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EVMWrapResponse(_EVMWrapResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _EVMUnwrapRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    amount: Amount  # Of the token.


@final
class EVMUnwrapRequest(_EVMUnwrapRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _EVMUnwrapResponse(TypedDict):
    tokenAddress: str  # The zero address for the native coin.
    amount: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EVMUnwrapResponse(_EVMUnwrapResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _EVMSendRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    amount: Amount  # Of the token.
    token: str  # A symbol of the network's token list, or the address of a token.
    to: str  # One of the addresses that `sendTo` of conf/clients.yml lists for this client and this wallet.


@final
class EVMSendRequest(_EVMSendRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _EVMSendResponse(TypedDict):
    to: str
    tokenAddress: str  # The zero address for the native coin.
    amount: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EVMSendResponse(_EVMSendResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


@final
class EVMGasRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.


@final
class EVMGasResponseSlow(TypedDict):
    maxFeePerGas: str  # In gwei, as requests take it: room for the base fee to rise, and the tip.
    maxPriorityFeePerGas: str  # The tip, in gwei.
    gasPrice: str  # Base fee of the next block plus tip, in gwei: what is paid if it is mined there.


@final
class EVMGasResponseNormal(TypedDict):
    maxFeePerGas: str  # In gwei, as requests take it: room for the base fee to rise, and the tip.
    maxPriorityFeePerGas: str  # The tip, in gwei.
    gasPrice: str  # Base fee of the next block plus tip, in gwei: what is paid if it is mined there.


@final
class EVMGasResponseFast(TypedDict):
    maxFeePerGas: str  # In gwei, as requests take it: room for the base fee to rise, and the tip.
    maxPriorityFeePerGas: str  # The tip, in gwei.
    gasPrice: str  # Base fee of the next block plus tip, in gwei: what is paid if it is mined there.


class _EVMGasResponse(TypedDict):
    gasPriceToken: str  # Symbol of the token that pays for gas.
    blockNumber: float  # The newest block.
    slow: EVMGasResponseSlow
    normal: EVMGasResponseNormal
    fast: EVMGasResponseFast
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EVMGasResponse(_EVMGasResponse, total=False):
    baseFee: str  # Of the next block, in gwei. Absent where blocks have none.


class _AltchainCreateTokenRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Address of a wallet whose key the server has.
    tokenSymbol: str  # A symbol of the network's token list, or the address of a token.


@final
class AltchainCreateTokenRequest(_AltchainCreateTokenRequest, total=False):
    nonce: int  # Index of one of the wallet's durable nonce accounts (conf/chains/<chain>.yml), from 0. Absent: a recent blockhash.


@final
class AltchainCreateTokenResponse(TypedDict):
    txHash: str | None  # The signature; null if the account exists already.
    tokenAccount: str  # The wallet's account for the token.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class ConnectorConfigRequest(TypedDict):
    connector: str  # Name of a registered connector.


ConnectorConfigResponse = dict[str, Any]


class _AMMPriceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector, or `any`: all of the network, of which the best after the cost of gas is taken.
    quote: str  # A symbol of the network's token list, or the address of a token.
    base: str  # A symbol of the network's token list, or the address of a token.
    side: Literal["BUY", "SELL"]  # BUY or SELL of the base token, in any letter case.


@final
class AMMPriceRequest(_AMMPriceRequest, total=False):
    amount: Amount  # Of the base token.
    version: str  # Restricts a connector with several versions of its protocol to one.
    pool: str  # Only through this pool, by its address or what identifies it. It is asked of the chain.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    amounts: list[Amount]  # A price for each, in `quotes`. The fields of the answer itself are those of `amount`; without it, of the first of these that has a price.
    address: str  # Address of a wallet whose key the server has.
    connectors: list[str]  # With `any`: these alone. Without it: those that are built in. Plugins take part only where they are named here.
    candidates: bool  # With `any`: whether the answer shows what each connector would give.


class _AMMPriceResponseRoute(TypedDict):
    pool: str
    version: str
    tokenIn: str
    tokenOut: str


@final
class AMMPriceResponseRoute(_AMMPriceResponseRoute, total=False):
    fee: str  # Fraction of the input.
    share: str  # Fraction of the exact amount that takes this path, in hundredths, if the swap is split. The hops of one path come after those of the previous; each path begins with the input token. The last path takes the remainder of rounding.


class _AMMPriceResponseCandidates(TypedDict):
    connector: str
    price: str
    expectedAmount: str
    gasCost: str  # In the gas token.
    blockNumber: float


@final
class AMMPriceResponseCandidates(_AMMPriceResponseCandidates, total=False):
    gasCostInQuote: str  # The cost of gas in the quote token, at the marginal price of the native coin by the best of the built-in connectors; rounded up. Absent where they have no price for it: then amounts are compared without it.
    approved: bool  # Whether the wallet of the request allows its spender that much.


class _AMMPriceResponseLeftOutError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class AMMPriceResponseLeftOutError(_AMMPriceResponseLeftOutError, total=False):
    details: Any


@final
class AMMPriceResponseLeftOut(TypedDict):
    connector: str
    error: AMMPriceResponseLeftOutError


@final
class AMMPriceResponseAllowance(TypedDict):
    spender: str
    sufficient: bool


class _AMMPriceResponseQuotes1Route(TypedDict):
    pool: str
    version: str
    tokenIn: str
    tokenOut: str


@final
class AMMPriceResponseQuotes1Route(_AMMPriceResponseQuotes1Route, total=False):
    fee: str  # Fraction of the input.
    share: str  # Fraction of the exact amount that takes this path, in hundredths, if the swap is split. The hops of one path come after those of the previous; each path begins with the input token. The last path takes the remainder of rounding.


class _AMMPriceResponseQuotes1Candidates(TypedDict):
    connector: str
    price: str
    expectedAmount: str
    gasCost: str  # In the gas token.
    blockNumber: float


@final
class AMMPriceResponseQuotes1Candidates(_AMMPriceResponseQuotes1Candidates, total=False):
    gasCostInQuote: str  # The cost of gas in the quote token, at the marginal price of the native coin by the best of the built-in connectors; rounded up. Absent where they have no price for it: then amounts are compared without it.
    approved: bool  # Whether the wallet of the request allows its spender that much.


class _AMMPriceResponseQuotes1LeftOutError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class AMMPriceResponseQuotes1LeftOutError(_AMMPriceResponseQuotes1LeftOutError, total=False):
    details: Any


@final
class AMMPriceResponseQuotes1LeftOut(TypedDict):
    connector: str
    error: AMMPriceResponseQuotes1LeftOutError


class _AMMPriceResponseQuotes1(TypedDict):
    amount: str  # Of the base token.
    rawAmount: str  # The amount in the base token's smallest unit.
    expectedAmount: str  # Quote tokens to pay (BUY) or to receive (SELL).
    price: str  # Quote per one base; rounded up for BUY and down for SELL.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    priceImpact: str  # Fraction of the input's value that the swap loses, at the pools' marginal price and fees included: 1 − output / (input × marginal price). The same for BUY and SELL.
    route: list[AMMPriceResponseQuotes1Route]  # The pools in order; if the swap is split, one path after the other.
    blockNumber: float  # The block of the quote.
    source: Literal["memory", "rpc"]  # memory: computed from state that the server keeps up to date, and no node was asked for any of the answer; rpc: one was, for the price, the cost of gas, a token that is on no list, or the allowances of `address`.
    slippagePrice: str  # The worst price that a trade without limitPrice would accept.


@final
class AMMPriceResponseQuotes1(_AMMPriceResponseQuotes1, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.
    connector: str  # With `any`: whose price this is.
    gasCostInQuote: str  # The cost of gas in the quote token, at the marginal price of the native coin by the best of the built-in connectors; rounded up. Absent where they have no price for it: then amounts are compared without it.
    candidates: list[AMMPriceResponseQuotes1Candidates]  # What each connector would give, the best after the cost of gas first. Only if the request asks for it.
    leftOut: list[AMMPriceResponseQuotes1LeftOut]  # With `any`: the connectors that gave no price in time or refused, and in a trade those that failed its checks before anything was signed. Those without a pool that has enough only with `candidates`.


class _AMMPriceResponseQuotes2Error(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class AMMPriceResponseQuotes2Error(_AMMPriceResponseQuotes2Error, total=False):
    details: Any


@final
class AMMPriceResponseQuotes2(TypedDict):
    amount: str
    error: AMMPriceResponseQuotes2Error


class _AMMPriceResponse(TypedDict):
    base: str  # Token address; the zero address for the native coin.
    quote: str  # Token address; the zero address for the native coin.
    amount: str  # Of the base token.
    rawAmount: str  # The amount in the base token's smallest unit.
    expectedAmount: str  # Quote tokens to pay (BUY) or to receive (SELL).
    price: str  # Quote per one base; rounded up for BUY and down for SELL.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    priceImpact: str  # Fraction of the input's value that the swap loses, at the pools' marginal price and fees included: 1 − output / (input × marginal price). The same for BUY and SELL.
    route: list[AMMPriceResponseRoute]  # The pools in order; if the swap is split, one path after the other.
    blockNumber: float  # The block of the quote.
    source: Literal["memory", "rpc"]  # memory: computed from state that the server keeps up to date, and no node was asked for any of the answer; rpc: one was, for the price, the cost of gas, a token that is on no list, or the allowances of `address`.
    slippagePrice: str  # The worst price that a trade without limitPrice would accept.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMPriceResponse(_AMMPriceResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.
    connector: str  # With `any`: whose price this is.
    gasCostInQuote: str  # The cost of gas in the quote token, at the marginal price of the native coin by the best of the built-in connectors; rounded up. Absent where they have no price for it: then amounts are compared without it.
    candidates: list[AMMPriceResponseCandidates]  # What each connector would give, the best after the cost of gas first. Only if the request asks for it.
    leftOut: list[AMMPriceResponseLeftOut]  # With `any`: the connectors that gave no price in time or refused, and in a trade those that failed its checks before anything was signed. Those without a pool that has enough only with `candidates`.
    allowance: AMMPriceResponseAllowance  # Only if the request has an address.
    warnings: list[str]  # Of both tokens, and of the accounts of `address` that hold them. Absent: there are none. What others may do to a token, or to the account of a wallet that it is in, begins with a code that stays the same and a colon: `permanent-delegate: …`. On EVM chains nothing of that is read.
    quotes: list[AMMPriceResponseQuotes1 | AMMPriceResponseQuotes2]  # One for each of `amounts`, in its order. `error` is in the place of a price that there is not, such as for more than the pools hold; the others are not affected.


class _AMMTradeRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector, or `any`: all of the network, of which the best after the cost of gas is taken.
    quote: str  # A symbol of the network's token list, or the address of a token.
    base: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the base token.
    side: Literal["BUY", "SELL"]  # BUY or SELL of the base token, in any letter case.
    address: str  # Address of a wallet whose key the server has.


@final
class AMMTradeRequest(_AMMTradeRequest, total=False):
    version: str  # Restricts a connector with several versions of its protocol to one.
    pool: str  # Only through this pool, by its address or what identifies it. It is asked of the chain.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    limitPrice: Amount  # The worst price to accept: quote per one base. Required where the connector is neither built in nor trusted, and the worst price that its quote and slippage allow is more than 5 % worse than that of the built-in connectors, or none of these has one.
    privateOnly: bool  # true: its transaction goes to the relays in `privateUrls` of the network, and to no public node; so do those that replace it. UNSUPPORTED where the network has none.
    connectors: list[str]  # With `any`: these alone. Without it: those that are built in. Plugins take part only where they are named here.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _AMMTradeResponseLeftOutError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class AMMTradeResponseLeftOutError(_AMMTradeResponseLeftOutError, total=False):
    details: Any


@final
class AMMTradeResponseLeftOut(TypedDict):
    connector: str
    error: AMMTradeResponseLeftOutError


class _AMMTradeResponse(TypedDict):
    base: str
    quote: str
    price: str  # The price expected at the block of the quote.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    amount: str
    rawAmount: str
    expectedAmount: str
    limitPrice: str  # The limit that the chain enforces.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMTradeResponse(_AMMTradeResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.
    tip: str  # Of `gasCost`, what `privateTip` of a network of Solana gives to whoever passes a private transaction on.
    deadline: float  # Seconds since the Unix epoch; enforced on chain. Absent where the contracts take none, such as Curve’s own router: then it may be mined at any later time, within limitPrice, until it is cancelled. On Solana it expires with its blockhash, after about a minute.
    connector: str  # With `any`: the connector that trades.
    leftOut: list[AMMTradeResponseLeftOut]  # With `any`: the connectors that gave no price in time or refused, and in a trade those that failed its checks before anything was signed. Those without a pool that has enough only with `candidates`.


@final
class AMMEstimateGasRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector, or `any`: all of the network, of which the best after the cost of gas is taken.


class _AMMEstimateGasResponse(TypedDict):
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMEstimateGasResponse(_AMMEstimateGasResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _AMMPoolsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector, or `any`: all of the network, of which the best after the cost of gas is taken.
    base: str  # A symbol of the network's token list, or the address of a token.


@final
class AMMPoolsRequest(_AMMPoolsRequest, total=False):
    quote: str  # The other token. Absent: each of the network's token list.
    version: str  # Restricts a connector with several versions of its protocol to one.
    percents: list[Amount]  # The depth is shown at each of these. Absent: at 1 % and 2 %.
    connectors: list[str]  # With `any`: these alone. Without it: those that are built in. Plugins take part only where they are named here.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _AMMPoolsResponsePoolsDepth(TypedDict):
    percent: float  # By how many percent the price may be worse than that of the smallest amounts.
    sell: str  # How much base can be sold to the pool until then; rounded down.
    buy: str  # How much base can be bought from it until then; rounded down.


@final
class AMMPoolsResponsePoolsDepth(_AMMPoolsResponsePoolsDepth, total=False):
    atLeast: bool  # true: more may be possible; the state beyond was not read.


class _AMMPoolsResponsePools(TypedDict):
    connector: str
    pool: str  # Its address, or what identifies it: the id of a pool of Uniswap v4.
    version: str
    tokens: list[str]  # Addresses; two or more. The wrapped coin stands for the native one.
    base: str  # Address of the one of them that was asked about.
    quote: str  # Address of the other.
    fee: str  # Fraction of the input, of a sale of base.
    price: str  # Quote per base at the margin, without the fee; rounded down.
    depth: list[AMMPoolsResponsePoolsDepth]  # At each of `percents`, the smallest first.
    blockNumber: float
    source: Literal["memory", "rpc"]


@final
class AMMPoolsResponsePools(_AMMPoolsResponsePools, total=False):
    baseReserve: str  # What the pool holds. Absent where liquidity is in ranges.
    quoteReserve: str
    liquidity: str  # Of pools with ranges: the liquidity in the range of the price, an integer.
    noLiquidityFor: list[Literal["BUY", "SELL"]]  # Sides of base for which the pool gives nothing at any price; `price` then only says where the pool stands.


class _AMMPoolsResponseLeftOutError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class AMMPoolsResponseLeftOutError(_AMMPoolsResponseLeftOutError, total=False):
    details: Any


@final
class AMMPoolsResponseLeftOut(TypedDict):
    connector: str
    error: AMMPoolsResponseLeftOutError


@final
class AMMPoolsResponseUnavailable(TypedDict):
    connector: str
    pool: str
    version: str
    reason: str


class _AMMPoolsResponse(TypedDict):
    pools: list[AMMPoolsResponsePools]  # Those that take the most base at the largest percentage first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMPoolsResponse(_AMMPoolsResponse, total=False):
    leftOut: list[AMMPoolsResponseLeftOut]  # With `any`: the connectors that gave no price in time or refused, and in a trade those that failed its checks before anything was signed. Those without a pool that has enough only with `candidates`.
    unavailable: list[AMMPoolsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    nextCursor: str  # Present if there are more pages.


class _AMMPoolRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    pool: str  # Its address, or what identifies it.


@final
class AMMPoolRequest(_AMMPoolRequest, total=False):
    base: str  # One of its tokens. Where the pool does not say which it has, both are required.
    quote: str  # Another one of its tokens.
    percents: list[Amount]  # The depth is shown at each of these. Absent: at 1 % and 2 %.


class _AMMPoolResponseDepth(TypedDict):
    percent: float  # By how many percent the price may be worse than that of the smallest amounts.
    sell: str  # How much base can be sold to the pool until then; rounded down.
    buy: str  # How much base can be bought from it until then; rounded down.


@final
class AMMPoolResponseDepth(_AMMPoolResponseDepth, total=False):
    atLeast: bool  # true: more may be possible; the state beyond was not read.


class _AMMPoolResponse(TypedDict):
    connector: str
    pool: str  # Its address, or what identifies it: the id of a pool of Uniswap v4.
    version: str
    tokens: list[str]  # Addresses; two or more. The wrapped coin stands for the native one.
    base: str  # Address of the one of them that was asked about.
    quote: str  # Address of the other.
    fee: str  # Fraction of the input, of a sale of base.
    price: str  # Quote per base at the margin, without the fee; rounded down.
    depth: list[AMMPoolResponseDepth]  # At each of `percents`, the smallest first.
    blockNumber: float
    source: Literal["memory", "rpc"]
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMPoolResponse(_AMMPoolResponse, total=False):
    baseReserve: str  # What the pool holds. Absent where liquidity is in ranges.
    quoteReserve: str
    liquidity: str  # Of pools with ranges: the liquidity in the range of the price, an integer.
    noLiquidityFor: list[Literal["BUY", "SELL"]]  # Sides of base for which the pool gives nothing at any price; `price` then only says where the pool stands.


class _AMMLiquidityAddRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token0: str  # A symbol or address. Prices are token1 per token0, in the order of the request.
    token1: str  # A symbol of the network's token list, or the address of a token.
    amount0: Amount  # Maximum of token0 to add.
    amount1: Amount  # Maximum of token1 to add.


@final
class AMMLiquidityAddRequest(_AMMLiquidityAddRequest, total=False):
    version: str  # Version of the exchange; ids and pools of each are its own. Absent: the first one that has positions, v3 of Uniswap.
    lowerPrice: Amount  # Lower bound of the range, token1 per token0. Required unless tokenId is given.
    upperPrice: Amount  # Upper bound of the range, token1 per token0. Required unless tokenId is given.
    fee: Amount  # Fee tier, by name or in hundredths of a basis point. Absent: the deepest pool.
    pool: str  # Address of the pool, or what identifies it: where a pair has several of one fee.
    tokenId: Amount  # Adds to this position instead of making a new one.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _AMMLiquidityAddResponse(TypedDict):
    token0: str  # Address, in the request's order; the zero address for the native coin.
    token1: str
    version: str  # Version of the exchange.
    fee: float  # Hundredths of a basis point.
    pool: str
    lowerPrice: str  # The bound that was used: rounded outward to a price of the pool.
    upperPrice: str  # The bound that was used: rounded outward to a price of the pool.
    amount0: str  # Expected at the price of this block; at most the amount of the request.
    amount1: str  # Expected at the price of this block; at most the amount of the request.
    liquidity: str  # Expected, an integer. The fill of /network/poll has what was added.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    deadline: float  # Seconds since the Unix epoch; enforced on chain.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMLiquidityAddResponse(_AMMLiquidityAddResponse, total=False):
    tokenId: str  # Only if it adds to a position; the fill has the id of a new one.
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _AMMLiquidityQuoteRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    lowerPrice: Amount  # Lower bound of the range, token1 per token0.
    upperPrice: Amount  # Upper bound of the range, token1 per token0.


@final
class AMMLiquidityQuoteRequest(_AMMLiquidityQuoteRequest, total=False):
    token0: str  # A symbol or address. Prices are token1 per token0, in the order of the request. Absent: the pool's, in its order.
    token1: str  # A symbol of the network's token list, or the address of a token.
    version: str  # Version of the exchange; ids and pools of each are its own. Absent: the first one that has positions, v3 of Uniswap.
    fee: Amount  # Fee tier, by name or in hundredths of a basis point. Absent: the deepest pool.
    pool: str  # Address of the pool, or what identifies it: where a pair has several of one fee.
    amount0: Amount  # Maximum of token0. Absent: as much as the other amount needs.
    amount1: Amount  # Maximum of token1. Absent: as much as the other amount needs.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.


@final
class AMMLiquidityQuoteResponse(TypedDict):
    token0: str  # Address, in the request's order; the zero address for the native coin.
    token1: str
    version: str  # Version of the exchange.
    fee: float  # Hundredths of a basis point.
    pool: str
    lowerPrice: str  # The bound that would be used: rounded outward to a price of the pool.
    upperPrice: str  # The bound that would be used: rounded outward to a price of the pool.
    amount0: str  # What an addition takes at the price of this block.
    amount1: str  # What an addition takes at the price of this block.
    maxAmount0: str  # The most that it takes while the price stays within the slippage. An addition of both maxima takes amount0 and amount1 at the price of this block.
    maxAmount1: str  # As maxAmount0.
    liquidity: str  # An integer.
    blockNumber: float
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _AMMLiquidityRemoveRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    tokenId: Amount  # Id of a position, as answers spell it: the number of a token, or the address of an account. A whole number is accepted, too.


@final
class AMMLiquidityRemoveRequest(_AMMLiquidityRemoveRequest, total=False):
    version: str  # Version of the exchange; ids and pools of each are its own. Absent: the first one that has positions, v3 of Uniswap.
    decreasePercent: Amount  # Percentage of its liquidity, more than 0 and at most 100. Absent: 100.
    burn: bool  # Burns the position too; only if all of it is removed. Absent: it stays.
    native: bool  # Pays out the native coin instead of its wrapped form. Absent: the wrapped form, as the pool holds it.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _AMMLiquidityRemoveResponse(TypedDict):
    tokenId: str
    liquidity: str  # The liquidity that is removed, an integer.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    deadline: float  # Seconds since the Unix epoch; enforced on chain.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMLiquidityRemoveResponse(_AMMLiquidityRemoveResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _AMMLiquidityCollectFeesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    tokenId: Amount  # Id of a position, as answers spell it: the number of a token, or the address of an account. A whole number is accepted, too.


@final
class AMMLiquidityCollectFeesRequest(_AMMLiquidityCollectFeesRequest, total=False):
    version: str  # Version of the exchange; ids and pools of each are its own. Absent: the first one that has positions, v3 of Uniswap.
    native: bool  # Pays out the native coin instead of its wrapped form. Absent: the wrapped form, as the pool holds it.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _AMMLiquidityCollectFeesResponse(TypedDict):
    tokenId: str
    unclaimedToken0: str  # Unclaimed at this block, in the pool's order. The fill has what was collected.
    unclaimedToken1: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMLiquidityCollectFeesResponse(_AMMLiquidityCollectFeesResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _AMMLiquidityPriceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class AMMLiquidityPriceRequest(_AMMLiquidityPriceRequest, total=False):
    token0: str  # A symbol or address. Prices are token1 per token0, in the order of the request. Absent: the pool's, in its order.
    token1: str  # A symbol of the network's token list, or the address of a token.
    version: str  # Version of the exchange; ids and pools of each are its own. Absent: the first one that has positions, v3 of Uniswap.
    fee: Amount  # Fee tier, by name or in hundredths of a basis point. Absent: the deepest pool.
    pool: str  # Address of the pool, or what identifies it: where a pair has several of one fee.
    period: int  # How far back the series goes. Required with interval; without both there is no series.
    interval: int  # Length of each interval of the series, at most the period.
    address: str  # Accepted, and without effect.
    liquidity: Amount  # Accepted, and without effect.


class _AMMLiquidityPriceResponse(TypedDict):
    token0: str  # Address, in the request's order; the zero address for the native coin.
    token1: str
    version: str  # Version of the exchange.
    fee: float  # Hundredths of a basis point.
    price: str  # Token1 per token0 at this block.
    prices: list[str]  # Geometric mean of the price over each interval, oldest first, from the pool's own oracle.
    pool: str
    liquidity: str  # In range at this price, an integer.
    blockNumber: float
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMLiquidityPriceResponse(_AMMLiquidityPriceResponse, total=False):
    period: float
    interval: float
    tick: float  # The pool's own, in its order of tokens. Absent where it has no ticks.
    tickSpacing: float  # Bounds of ranges are multiples of it.
    sqrtPriceX96: str  # The pool's own, in its order of tokens. Absent where its price is none.


class _AMMLiquidityPositionRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    tokenId: Amount  # Id of a position, as answers spell it: the number of a token, or the address of an account. A whole number is accepted, too.


@final
class AMMLiquidityPositionRequest(_AMMLiquidityPositionRequest, total=False):
    version: str  # Version of the exchange; ids and pools of each are its own. Absent: the first one that has positions, v3 of Uniswap.


class _AMMLiquidityPositionResponse(TypedDict):
    tokenId: str
    version: str  # Version of the exchange.
    token0: str  # Address, in the pool's order; the zero address for the native coin.
    token1: str  # Address, in the pool's order.
    fee: float  # Hundredths of a basis point.
    lowerPrice: str  # Token1 per token0.
    upperPrice: str  # Token1 per token0.
    amount0: str  # What removing all of it returns at this price.
    amount1: str  # What removing all of it returns at this price.
    unclaimedToken0: str  # Fees earned and not collected, at this block.
    unclaimedToken1: str  # Fees earned and not collected, at this block.
    liquidity: str  # An integer.
    inRange: bool
    poolPrice: str  # Token1 per token0.
    pool: str
    owner: str
    blockNumber: float
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMLiquidityPositionResponse(_AMMLiquidityPositionResponse, total=False):
    tickLower: float  # The bounds as ticks, where they are ticks.
    tickUpper: float


class _AMMLiquidityPositionsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class AMMLiquidityPositionsRequest(_AMMLiquidityPositionsRequest, total=False):
    version: str  # Only positions of this version. Absent: those of all.


class _AMMLiquidityPositionsResponsePositions(TypedDict):
    tokenId: str
    version: str  # Version of the exchange.
    token0: str  # Address, in the pool's order; the zero address for the native coin.
    token1: str  # Address, in the pool's order.
    fee: float  # Hundredths of a basis point.
    lowerPrice: str  # Token1 per token0.
    upperPrice: str  # Token1 per token0.
    amount0: str  # What removing all of it returns at this price.
    amount1: str  # What removing all of it returns at this price.
    unclaimedToken0: str  # Fees earned and not collected, at this block.
    unclaimedToken1: str  # Fees earned and not collected, at this block.
    liquidity: str  # An integer.
    inRange: bool
    poolPrice: str  # Token1 per token0.
    pool: str
    owner: str


@final
class AMMLiquidityPositionsResponsePositions(_AMMLiquidityPositionsResponsePositions, total=False):
    tickLower: float  # The bounds as ticks, where they are ticks.
    tickUpper: float


class _AMMLiquidityPositionsResponseUnavailable(TypedDict):
    reason: str


@final
class AMMLiquidityPositionsResponseUnavailable(_AMMLiquidityPositionsResponseUnavailable, total=False):
    tokenId: str  # Absent: all positions of the version.
    version: str  # Version of the exchange.


class _AMMLiquidityPositionsResponse(TypedDict):
    positions: list[AMMLiquidityPositionsResponsePositions]
    blockNumber: float
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMLiquidityPositionsResponse(_AMMLiquidityPositionsResponse, total=False):
    unavailable: list[AMMLiquidityPositionsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    searchedFromBlock: float  # Where a version has no list of a wallet's positions: the first block that was searched for them. Absent: nothing had to be searched.
    notSearched: str  # Why blocks could not be searched: those that are known are shown.
    missing: float  # How many more positions the wallet has: older than the search, and unknown to this server. Ask for them by their tokenId.


@final
class AMMLiquidityRefusedRequest(TypedDict, total=False):
    pass


class _AMMLiquidityRefusedResponsePositions(TypedDict):
    chain: str
    network: str
    connector: str
    version: str
    tokenId: str  # The id of the position; or, where its client asked by it, the hash of the transaction that opens it.
    client: str  # Who asked: the key of its entry in conf/clients.yml.
    asked: Literal["position", "close"]  # position: what it is now. close: to close it.
    refusedAt: float  # Milliseconds since the Unix epoch. To half a minute, where its client asks again and again.


@final
class AMMLiquidityRefusedResponsePositions(_AMMLiquidityRefusedResponsePositions, total=False):
    error: str  # The name of the error. Absent: its answer did not reach it.


@final
class AMMLiquidityRefusedResponse(TypedDict):
    positions: list[AMMLiquidityRefusedResponsePositions]  # Newest first, of one client at most 500. One that was used or closed otherwise since stays in it: the command `positions --orphaned` looks at that, too. Of other clients only for callers with the permission admin.


class _AMMSharesAddRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    tokens: list[str]  # All of the pool's tokens, by symbol or address. Amounts of the request and the answer are in this order. The native coin stands for its wrapped form, and is what is paid.
    amounts: list[Amount]  # The most to add of each token. One amount alone is of the first token, and the others follow from what the pool holds; not by a connector that is neither built in nor trusted, which needs one for each. Pools that take any ratio take all of these.


@final
class AMMSharesAddRequest(_AMMSharesAddRequest, total=False):
    pool: str  # Address of the pool, or of the token of its shares. Required where these tokens have several pools, and to remove shares by a connector that is neither built in nor trusted.
    minShares: Amount  # The least shares, beside what the slippage allows: the tighter of the two is enforced on chain. Only for pools that take any ratio; of others `minAmounts` bounds the price.
    minAmounts: list[Amount]  # The least of each token, beside what the slippage allows: the tighter of the two is enforced on chain. Where the pool would give less at this block, nothing is sent.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _AMMSharesAddResponse(TypedDict):
    pool: str  # Address of the pool.
    version: str  # The protocol's version.
    tokens: list[str]  # Addresses, in the request's order; the zero address for the native coin.
    amounts: list[str]  # What is added at this block: at most the amounts of the request, in the ratio of the pool; the amounts of the request themselves where pools take any ratio.
    minAmounts: list[str]  # The least of each token: enforced on chain.
    shares: str  # Expected, at this block. The fill of /network/poll has what was added.
    shareToken: str  # Address of the token that the shares are, for `/evm/approve` and `/network/balances`.
    poolShare: str  # Fraction of the pool that these shares would be, rounded down.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMSharesAddResponse(_AMMSharesAddResponse, total=False):
    minShares: str  # The least shares: enforced on chain. For pools that take any ratio; of others `minAmounts` bounds the price.
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.
    deadline: float  # Seconds since the Unix epoch; enforced on chain. Absent where the contracts take none.


class _AMMSharesRemoveRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    tokens: list[str]  # All of the pool's tokens, by symbol or address. Amounts of the request and the answer are in this order. The native coin stands for its wrapped form, and is what is paid.


@final
class AMMSharesRemoveRequest(_AMMSharesRemoveRequest, total=False):
    pool: str  # Address of the pool, or of the token of its shares. Required where these tokens have several pools, and to remove shares by a connector that is neither built in nor trusted.
    decreasePercent: Amount  # Percentage of the wallet's shares, more than 0 and at most 100. Absent: 100.
    shares: Amount  # How many shares to remove, in the place of a percentage.
    minAmounts: list[Amount]  # The least of each token, beside what the slippage allows: the tighter of the two is enforced on chain. Where the pool would give less at this block, nothing is sent.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _AMMSharesRemoveResponse(TypedDict):
    pool: str  # Address of the pool.
    version: str  # The protocol's version.
    tokens: list[str]  # Addresses, in the request's order; the zero address for the native coin.
    shares: str  # The shares that are removed.
    shareToken: str  # Address of the token that the shares are, for `/evm/approve` and `/network/balances`.
    amounts: list[str]  # What they give at this block, rounded down.
    minAmounts: list[str]  # The least of each token: enforced on chain.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMSharesRemoveResponse(_AMMSharesRemoveResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.
    deadline: float  # Seconds since the Unix epoch; enforced on chain. Absent where the contracts take none.


class _AMMSharesPositionRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    tokens: list[str]  # All of the pool's tokens, by symbol or address. Amounts of the request and the answer are in this order. The native coin stands for its wrapped form, and is what is paid.


@final
class AMMSharesPositionRequest(_AMMSharesPositionRequest, total=False):
    pool: str  # Address of the pool, or of the token of its shares. Required where these tokens have several pools, and to remove shares by a connector that is neither built in nor trusted.


class _AMMSharesPositionResponse(TypedDict):
    pool: str  # Address of the pool.
    version: str  # The protocol's version.
    tokens: list[str]  # Addresses, in the request's order; the zero address for the native coin.
    owner: str
    shares: str  # The wallet's.
    shareToken: str  # Address of the token that the shares are, for `/evm/approve` and `/network/balances`.
    totalShares: str  # Of all wallets, with those that the next change would create for the protocol.
    poolShare: str  # The wallet's fraction of the pool, rounded down.
    amounts: list[str]  # What removing all of the wallet's shares returns at this block, rounded down.
    poolAmounts: list[str]  # What the pool holds.
    blockNumber: float
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class AMMSharesPositionResponse(_AMMSharesPositionResponse, total=False):
    value: str  # Of `amounts`, in the last token of the request, at the pool's marginal price; rounded down. Absent where it has no price.


@final
class PortfolioRequest(TypedDict, total=False):
    chain: str  # Only on this chain. Absent: on all.
    network: str  # Only on networks of this name. Absent: on all.
    address: str  # Only this wallet. Absent: all that the certificate may use.


class _PortfolioResponseNetworksWalletsBalances(TypedDict):
    token: str  # The zero address for the native coin.
    symbol: str
    amount: str


@final
class PortfolioResponseNetworksWalletsBalances(_PortfolioResponseNetworksWalletsBalances, total=False):
    value: str  # In the reference token, at least: by the market of now.
    noValue: str  # Why there is no `value`.


class _PortfolioResponseNetworksWalletsGas(TypedDict):
    symbol: str  # The coin that pays for gas.
    balance: str
    transactions: int  # The wallet's, that were mined in the last 7 days. At most the newest 1000 are counted.
    spent: str  # What they cost, with what a rollup charges for layer 1.
    perDay: str  # Rounded up. What was counted in less than a day is taken for that of a day.


@final
class PortfolioResponseNetworksWalletsGas(_PortfolioResponseNetworksWalletsGas, total=False):
    since: float  # Milliseconds since the Unix epoch: what is counted began then.
    daysLeft: str  # How long the balance lasts at this use, rounded down. Absent: nothing was used.


class _PortfolioResponseNetworksWalletsAllowances(TypedDict):
    spender: str
    connectors: list[str]  # Those that have the spender. Empty: none has.
    token: str  # Address of the token, or of the collection of positions.


@final
class PortfolioResponseNetworksWalletsAllowances(_PortfolioResponseNetworksWalletsAllowances, total=False):
    symbol: str  # Absent: the token is on no list.
    amount: str  # What it may take now. Absent: all tokens of the collection, or the one of `tokenId`.
    dormant: str  # One half of a right by Permit2, which takes nothing now and is not in `amount`: of a spender what it could take once the wallet approves the token for `permit2` again, of `permit2` itself (where it is the `spender`) what somebody could whom the wallet approves within it.
    unlimited: Literal[True]  # The amount is so large that it does not end.
    tokenId: str  # The one position that it may take.
    permit2: str  # The contract of Permit2, where it takes the token, or a part of it, by that.
    atRisk: str  # What it could take now: the smaller of `amount` and the balance.
    value: str  # Of `atRisk` in the reference token, at most: by the market of now.
    noValue: str  # Why there is no `value`.


class _PortfolioResponseNetworksWalletsLiquidity(TypedDict):
    connector: str
    version: str
    tokenId: str
    pool: str
    token0: str
    token1: str
    amount0: str  # What removing all of it gives now.
    amount1: str
    unclaimedToken0: str  # Fees that are earned and not collected.
    unclaimedToken1: str
    inRange: bool


@final
class PortfolioResponseNetworksWalletsLiquidity(_PortfolioResponseNetworksWalletsLiquidity, total=False):
    value: str  # Of amounts and fees in the reference token, at least.
    noValue: str  # Why there is no `value`.


class _PortfolioResponseNetworksWalletsShares(TypedDict):
    connector: str
    pool: str
    shares: str
    tokens: list[str]  # Addresses.
    amounts: list[str]  # What removing all of it gives now.


@final
class PortfolioResponseNetworksWalletsShares(_PortfolioResponseNetworksWalletsShares, total=False):
    value: str  # In the reference token, at least: by the market of now.
    noValue: str  # Why there is no `value`.


class _PortfolioResponseNetworksWalletsExchangeBalances(TypedDict):
    connector: str
    symbol: str
    total: str  # In the exchange. It is in no balance of the wallet.
    available: str
    locked: str  # By open orders.


@final
class PortfolioResponseNetworksWalletsExchangeBalances(_PortfolioResponseNetworksWalletsExchangeBalances, total=False):
    value: str  # In the reference token, at least: by the market of now.
    noValue: str  # Why there is no `value`.


@final
class PortfolioResponseNetworksWalletsMarginDebts(TypedDict):
    symbol: str
    borrowed: str
    borrowRate: str  # Per year.


@final
class PortfolioResponseNetworksWalletsMargin(TypedDict):
    connector: str
    mode: str  # The exchange's name of the account.
    equity: str  # What is deposited less what is owed, in the unit of account of the exchange.
    collateral: str
    borrowed: str  # All debts.
    freeCollateral: str
    maintenanceMargin: str
    debts: list[PortfolioResponseNetworksWalletsMarginDebts]


class _PortfolioResponseNetworksWalletsPerpetualsPositions(TypedDict):
    market: str
    side: str
    amount: str  # Of base.
    entryPrice: str
    markPrice: str
    unrealizedProfit: str


@final
class PortfolioResponseNetworksWalletsPerpetualsPositions(_PortfolioResponseNetworksWalletsPerpetualsPositions, total=False):
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged. Absent: there is none.
    marginMode: Literal["cross", "isolated"]  # Of isolated ones, the margin of the account says nothing: look at `liquidationPrice`.


class _PortfolioResponseNetworksWalletsPerpetuals(TypedDict):
    connector: str


@final
class PortfolioResponseNetworksWalletsPerpetuals(_PortfolioResponseNetworksWalletsPerpetuals, total=False):
    unit: str  # Symbol of the token that amounts are in. Absent: the unit of account of the exchange.
    exposure: str  # The sum of the absolute values of all open positions.
    accountValue: str  # Collateral with profits and losses that are not realised.
    collateral: str
    freeCollateral: str
    maintenanceMargin: str  # Below it, positions are liquidated.
    positions: list[PortfolioResponseNetworksWalletsPerpetualsPositions]  # Of order books. Those of `PERP_AMM` are at `/perpAMM/position`.


class _PortfolioResponseNetworksWallets(TypedDict):
    address: str
    withoutValue: int  # How many of these have no value.
    balances: list[PortfolioResponseNetworksWalletsBalances]  # Of the native coin and listed tokens, without those of 0.
    allowances: list[PortfolioResponseNetworksWalletsAllowances]
    liquidity: list[PortfolioResponseNetworksWalletsLiquidity]
    shares: list[PortfolioResponseNetworksWalletsShares]  # Of pools to which the wallet added by this server.
    exchangeBalances: list[PortfolioResponseNetworksWalletsExchangeBalances]
    margin: list[PortfolioResponseNetworksWalletsMargin]
    perpetuals: list[PortfolioResponseNetworksWalletsPerpetuals]


@final
class PortfolioResponseNetworksWallets(_PortfolioResponseNetworksWallets, total=False):
    value: str  # Of balances, those in exchanges, liquidity and shares, at least, in the reference token. Without what has no value, and without accounts of margin and perpetuals.
    gas: PortfolioResponseNetworksWalletsGas


class _PortfolioResponseNetworks(TypedDict):
    chain: str
    network: str
    blockNumber: float  # The newest block when it was read. Parts may be of the ones after it.
    wallets: list[PortfolioResponseNetworksWallets]


@final
class PortfolioResponseNetworks(_PortfolioResponseNetworks, total=False):
    reference: str  # Symbol of the token that values are in. Absent: there are no values.


class _PortfolioResponseUnavailable(TypedDict):
    chain: str
    network: str
    reason: str


@final
class PortfolioResponseUnavailable(_PortfolioResponseUnavailable, total=False):
    address: str  # Absent: all wallets.
    connector: str
    part: str  # Which part of the wallet. Absent: all.


class _PortfolioResponse(TypedDict):
    timestamp: float  # Milliseconds since the Unix epoch.
    networks: list[PortfolioResponseNetworks]


@final
class PortfolioResponse(_PortfolioResponse, total=False):
    unavailable: list[PortfolioResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class AllowancesRequest(TypedDict, total=False):
    chain: str  # Only on this chain. Absent: on all.
    network: str  # Only on networks of this name. Absent: on all.
    address: str  # Only this wallet. Absent: all that the certificate may use.


class _AllowancesResponseAllowances(TypedDict):
    chain: str
    network: str
    address: str  # The wallet.
    spender: str
    connectors: list[str]  # Those that have the spender. Empty: none has.
    token: str  # Address of the token, or of the collection of positions.


@final
class AllowancesResponseAllowances(_AllowancesResponseAllowances, total=False):
    symbol: str  # Absent: the token is on no list.
    amount: str  # What it may take now. Absent: all tokens of the collection, or the one of `tokenId`.
    dormant: str  # One half of a right by Permit2, which takes nothing now and is not in `amount`: of a spender what it could take once the wallet approves the token for `permit2` again, of `permit2` itself (where it is the `spender`) what somebody could whom the wallet approves within it.
    unlimited: Literal[True]  # The amount is so large that it does not end.
    tokenId: str  # The one position that it may take.
    permit2: str  # The contract of Permit2, where it takes the token, or a part of it, by that.
    atRisk: str  # What it could take now: the smaller of `amount` and the balance.
    value: str  # Of `atRisk` in the reference token, at most: by the market of now.
    noValue: str  # Why there is no `value`.
    reference: str  # Symbol of the token that values are in.


class _AllowancesResponseUnavailable(TypedDict):
    chain: str
    network: str
    reason: str


@final
class AllowancesResponseUnavailable(_AllowancesResponseUnavailable, total=False):
    address: str  # Absent: all wallets.


class _AllowancesResponse(TypedDict):
    allowances: list[AllowancesResponseAllowances]


@final
class AllowancesResponse(_AllowancesResponse, total=False):
    unavailable: list[AllowancesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpAMMPriceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.
    amount: Amount  # Size in base.
    side: Literal["LONG", "SHORT", "BUY", "SELL"]  # LONG or SHORT, in any letter case; BUY and SELL mean the same.


class _PerpAMMPriceResponse(TypedDict):
    quote: str
    base: str
    side: Literal["LONG", "SHORT"]
    amount: str  # Size in base.
    price: str  # Price per one base to pay (LONG) or to receive (SHORT) for that size, fees included, rounded against the caller.
    expectedAmount: str  # The same for the whole size, in quote.
    fee: str  # The exchange's fee in it, in quote.
    markPrice: str  # The market's own price.
    indexPrice: str  # The price of the underlying, from outside of the exchange.
    indexTwapPrice: str  # Mean of the index price over the exchange's interval.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMPriceResponse(_PerpAMMPriceResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


@final
class PerpPriceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.
    amount: Amount  # Size in base.
    side: Literal["LONG", "SHORT", "BUY", "SELL"]  # LONG or SHORT, in any letter case; BUY and SELL mean the same.


class _PerpPriceResponse(TypedDict):
    quote: str
    base: str
    side: Literal["LONG", "SHORT"]
    amount: str  # Size in base.
    price: str  # Price per one base to pay (LONG) or to receive (SHORT) for that size, fees included, rounded against the caller.
    expectedAmount: str  # The same for the whole size, in quote.
    fee: str  # The exchange's fee in it, in quote.
    markPrice: str  # The market's own price.
    indexPrice: str  # The price of the underlying, from outside of the exchange.
    indexTwapPrice: str  # Mean of the index price over the exchange's interval.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpPriceResponse(_PerpPriceResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


@final
class PerpAMMPositionRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    wallet_address: str  # Address of a wallet whose key the server has.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


class _PerpAMMPositionResponsePosition(TypedDict):
    positionAmt: str  # Size in base, without sign; "0" without a position.
    positionSide: Literal["LONG", "SHORT"]
    unrealizedProfit: str  # In quote, at the mark price; below 0 is a loss.
    entryPrice: str  # Quote per one base.
    markPrice: str  # Quote per one base.
    tickerSymbol: str  # ETHUSD
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.


@final
class PerpAMMPositionResponsePosition(_PerpAMMPositionResponsePosition, total=False):
    leverage: str  # The position's value divided by the account's value, or by its smallest unit if that is 0 or less.
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.


@final
class PerpAMMPositionResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpAMMPositionResponse(TypedDict):
    position: PerpAMMPositionResponsePosition
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMPositionResponse(_PerpAMMPositionResponse, total=False):
    unavailable: list[PerpAMMPositionResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpPositionRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    wallet_address: str  # Address of a wallet whose key the server has.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


class _PerpPositionResponsePosition(TypedDict):
    positionAmt: str  # Size in base, without sign; "0" without a position.
    positionSide: Literal["LONG", "SHORT"]
    unrealizedProfit: str  # In quote, at the mark price; below 0 is a loss.
    entryPrice: str  # Quote per one base.
    markPrice: str  # Quote per one base.
    tickerSymbol: str  # ETHUSD
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.


@final
class PerpPositionResponsePosition(_PerpPositionResponsePosition, total=False):
    leverage: str  # The position's value divided by the account's value, or by its smallest unit if that is 0 or less.
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.


@final
class PerpPositionResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpPositionResponse(TypedDict):
    position: PerpPositionResponsePosition
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpPositionResponse(_PerpPositionResponse, total=False):
    unavailable: list[PerpPositionResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpAMMMarginRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    wallet_address: str  # Address of a wallet whose key the server has.


@final
class PerpAMMMarginResponseMargin(TypedDict, total=False):
    accountValue: str  # Collateral, profit and loss, and pending funding.
    freeCollateral: str  # Collateral available for a new position, by the rule of the exchange. Below 0 by what is missing, where an exchange itself may show 0.
    collateral: str  # What the wallet has in the exchange: deposits and realized profit, without unrealized profit and pending funding.
    initialMargin: str  # What its positions require to be opened.
    maintenanceMargin: str  # What its positions require not to be liquidated.
    marginRatio: str  # The account value divided by the value of the positions, possibly below 0; "0" without positions.
    leverage: str  # The value of the positions divided by the account value, or by its smallest unit if that is 0 or less; "0" without positions.


@final
class PerpAMMMarginResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpAMMMarginResponse(TypedDict):
    margin: PerpAMMMarginResponseMargin  # A figure that needs a market which does not answer is absent.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMMarginResponse(_PerpAMMMarginResponse, total=False):
    unavailable: list[PerpAMMMarginResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpMarginRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    wallet_address: str  # Address of a wallet whose key the server has.


@final
class PerpMarginResponseMargin(TypedDict, total=False):
    accountValue: str  # Collateral, profit and loss, and pending funding.
    freeCollateral: str  # Collateral available for a new position, by the rule of the exchange. Below 0 by what is missing, where an exchange itself may show 0.
    collateral: str  # What the wallet has in the exchange: deposits and realized profit, without unrealized profit and pending funding.
    initialMargin: str  # What its positions require to be opened.
    maintenanceMargin: str  # What its positions require not to be liquidated.
    marginRatio: str  # The account value divided by the value of the positions, possibly below 0; "0" without positions.
    leverage: str  # The value of the positions divided by the account value, or by its smallest unit if that is 0 or less; "0" without positions.


@final
class PerpMarginResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpMarginResponse(TypedDict):
    margin: PerpMarginResponseMargin  # A figure that needs a market which does not answer is absent.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpMarginResponse(_PerpMarginResponse, total=False):
    unavailable: list[PerpMarginResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpAMMFundingRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    wallet_address: str  # Address of a wallet whose key the server has.


class _PerpAMMFundingResponseFunding(TypedDict):
    tickerSymbol: str
    fundingRate: str  # Per fundingPeriodSeconds; above 0 if longs pay shorts.
    fundingPeriodSeconds: float
    markPrice: str  # The market's own price.
    indexPrice: str  # The price of the underlying, from outside of the exchange.
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.


@final
class PerpAMMFundingResponseFunding(_PerpAMMFundingResponseFunding, total=False):
    nextFundingTimestamp: float  # Milliseconds since the Unix epoch.


@final
class PerpAMMFundingResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpAMMFundingResponse(TypedDict):
    funding: list[PerpAMMFundingResponseFunding]
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMFundingResponse(_PerpAMMFundingResponse, total=False):
    unavailable: list[PerpAMMFundingResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpFundingRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    wallet_address: str  # Address of a wallet whose key the server has.


class _PerpFundingResponseFunding(TypedDict):
    tickerSymbol: str
    fundingRate: str  # Per fundingPeriodSeconds; above 0 if longs pay shorts.
    fundingPeriodSeconds: float
    markPrice: str  # The market's own price.
    indexPrice: str  # The price of the underlying, from outside of the exchange.
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.


@final
class PerpFundingResponseFunding(_PerpFundingResponseFunding, total=False):
    nextFundingTimestamp: float  # Milliseconds since the Unix epoch.


@final
class PerpFundingResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpFundingResponse(TypedDict):
    funding: list[PerpFundingResponseFunding]
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpFundingResponse(_PerpFundingResponse, total=False):
    unavailable: list[PerpFundingResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _PerpAMMOpenRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.
    amount: Amount  # Size in base.
    side: Literal["LONG", "SHORT", "BUY", "SELL"]  # LONG or SHORT, in any letter case; BUY and SELL mean the same.
    margin: Amount  # Collateral that the caller assigns to it; nothing is deposited.
    leverage: Amount  # Size times price is at most margin times leverage.


@final
class PerpAMMOpenRequest(_PerpAMMOpenRequest, total=False):
    limitPrice: Amount  # The worst price to accept: quote per one base, fees included.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


@final
class PerpAMMOpenResponsePosition(TypedDict):
    positionAmt: str  # Size in base, without sign; "0" without a position.
    positionSide: Literal["LONG", "SHORT"]
    unrealizedProfit: str  # In quote, at the mark price; below 0 is a loss.
    leverage: str  # The position's value divided by the account's value, or by its smallest unit if that is 0 or less.
    entryPrice: str  # Quote per one base.
    markPrice: str  # Quote per one base.
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.
    tickerSymbol: str  # ETHUSD
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.


class _PerpAMMOpenResponse(TypedDict):
    position: PerpAMMOpenResponsePosition  # As expected after the fill.
    price: str  # Expected at this block, fees included.
    limitPrice: str  # The limit that the chain enforces.
    deadline: float  # Seconds since the Unix epoch; enforced on chain.
    blockNumber: float  # The block at which price, margin and leverage were checked.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMOpenResponse(_PerpAMMOpenResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _PerpOpenRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.
    amount: Amount  # Size in base.
    side: Literal["LONG", "SHORT", "BUY", "SELL"]  # LONG or SHORT, in any letter case; BUY and SELL mean the same.
    margin: Amount  # Collateral that the caller assigns to it; nothing is deposited.
    leverage: Amount  # Size times price is at most margin times leverage.


@final
class PerpOpenRequest(_PerpOpenRequest, total=False):
    limitPrice: Amount  # The worst price to accept: quote per one base, fees included.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


@final
class PerpOpenResponsePosition(TypedDict):
    positionAmt: str  # Size in base, without sign; "0" without a position.
    positionSide: Literal["LONG", "SHORT"]
    unrealizedProfit: str  # In quote, at the mark price; below 0 is a loss.
    leverage: str  # The position's value divided by the account's value, or by its smallest unit if that is 0 or less.
    entryPrice: str  # Quote per one base.
    markPrice: str  # Quote per one base.
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.
    tickerSymbol: str  # ETHUSD
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.


class _PerpOpenResponse(TypedDict):
    position: PerpOpenResponsePosition  # As expected after the fill.
    price: str  # Expected at this block, fees included.
    limitPrice: str  # The limit that the chain enforces.
    deadline: float  # Seconds since the Unix epoch; enforced on chain.
    blockNumber: float  # The block at which price, margin and leverage were checked.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpOpenResponse(_PerpOpenResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _PerpAMMCloseRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


@final
class PerpAMMCloseRequest(_PerpAMMCloseRequest, total=False):
    limitPrice: Amount  # The worst price to take for the closing side: quote per one base, fees included.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _PerpAMMCloseResponse(TypedDict):
    amount: str  # Size in base that is expected to be closed: less than the position if the exchange closes it in parts.
    price: str  # Expected at this block, fees included.
    limitPrice: str  # The limit that the chain enforces.
    deadline: float  # Seconds since the Unix epoch; enforced on chain.
    blockNumber: float  # The block of the answer.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMCloseResponse(_PerpAMMCloseResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _PerpCloseRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


@final
class PerpCloseRequest(_PerpCloseRequest, total=False):
    limitPrice: Amount  # The worst price to take for the closing side: quote per one base, fees included.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _PerpCloseResponse(TypedDict):
    amount: str  # Size in base that is expected to be closed: less than the position if the exchange closes it in parts.
    price: str  # Expected at this block, fees included.
    limitPrice: str  # The limit that the chain enforces.
    deadline: float  # Seconds since the Unix epoch; enforced on chain.
    blockNumber: float  # The block of the answer.
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpCloseResponse(_PerpCloseResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


@final
class PerpAMMMarketPricesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


@final
class PerpAMMMarketPricesResponse(TypedDict):
    markPrice: str  # The market's own price.
    indexPrice: str  # The price of the underlying, from outside of the exchange.
    indexTwapPrice: str  # Mean of the index price over the exchange's interval.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpMarketPricesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


@final
class PerpMarketPricesResponse(TypedDict):
    markPrice: str  # The market's own price.
    indexPrice: str  # The price of the underlying, from outside of the exchange.
    indexTwapPrice: str  # Mean of the index price over the exchange's interval.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMMarketStatusRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


@final
class PerpAMMMarketStatusResponse(TypedDict):
    isActive: bool  # Whether positions can be opened.
    status: Literal["open", "paused", "closed"]
    maxLeverage: str  # The most leverage that a position may be opened with.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpMarketStatusRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    quote: str  # The asset that the market is priced in, such as USD, in any letter case.
    base: str  # The asset that is traded, such as ETH, in any letter case.


@final
class PerpMarketStatusResponse(TypedDict):
    isActive: bool  # Whether positions can be opened.
    status: Literal["open", "paused", "closed"]
    maxLeverage: str  # The most leverage that a position may be opened with.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMPairsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class PerpAMMPairsResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpAMMPairsResponse(TypedDict):
    pairs: list[str]  # ETHUSD, …: those that are paused or closed too.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMPairsResponse(_PerpAMMPairsResponse, total=False):
    unavailable: list[PerpAMMPairsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpPairsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class PerpPairsResponseUnavailable(TypedDict):
    pair: str
    reason: str


class _PerpPairsResponse(TypedDict):
    pairs: list[str]  # ETHUSD, …: those that are paused or closed too.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpPairsResponse(_PerpPairsResponse, total=False):
    unavailable: list[PerpPairsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class PerpAMMBalanceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class PerpAMMBalanceResponse(TypedDict):
    balance: str  # Collateral in the exchange, before profit that is not realized.
    token: str  # Symbol of the token that accounts are kept in.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpBalanceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class PerpBalanceResponse(TypedDict):
    balance: str  # Collateral in the exchange, before profit that is not realized.
    token: str  # Symbol of the token that accounts are kept in.
    blockNumber: float  # The block of the answer.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMEstimateGasRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


class _PerpAMMEstimateGasResponse(TypedDict):
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMEstimateGasResponse(_PerpAMMEstimateGasResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


@final
class PerpEstimateGasRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


class _PerpEstimateGasResponse(TypedDict):
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpEstimateGasResponse(_PerpEstimateGasResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _PerpAMMDepositRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # The token that accounts are kept in; `balance` names it.
    amount: Amount  # Of the token. A deposit needs an allowance of the spender that has the connector's name: the contract that takes collateral (`vaultAddress` in the configuration), and not `routerAddress`. To open, to close and to withdraw needs none.


@final
class PerpAMMDepositRequest(_PerpAMMDepositRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _PerpAMMDepositResponse(TypedDict):
    token: str
    amount: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMDepositResponse(_PerpAMMDepositResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _PerpDepositRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # The token that accounts are kept in; `balance` names it.
    amount: Amount  # Of the token. A deposit needs an allowance of the spender that has the connector's name: the contract that takes collateral (`vaultAddress` in the configuration), and not `routerAddress`. To open, to close and to withdraw needs none.


@final
class PerpDepositRequest(_PerpDepositRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _PerpDepositResponse(TypedDict):
    token: str
    amount: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpDepositResponse(_PerpDepositResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _PerpAMMWithdrawRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # The token that accounts are kept in; `balance` names it.
    amount: Amount  # Of the token. A deposit needs an allowance of the spender that has the connector's name: the contract that takes collateral (`vaultAddress` in the configuration), and not `routerAddress`. To open, to close and to withdraw needs none.


@final
class PerpAMMWithdrawRequest(_PerpAMMWithdrawRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _PerpAMMWithdrawResponse(TypedDict):
    token: str
    amount: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpAMMWithdrawResponse(_PerpAMMWithdrawResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _PerpWithdrawRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # The token that accounts are kept in; `balance` names it.
    amount: Amount  # Of the token. A deposit needs an allowance of the spender that has the connector's name: the contract that takes collateral (`vaultAddress` in the configuration), and not `routerAddress`. To open, to close and to withdraw needs none.


@final
class PerpWithdrawRequest(_PerpWithdrawRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _PerpWithdrawResponse(TypedDict):
    token: str
    amount: str
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    nonce: float
    txHash: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class PerpWithdrawResponse(_PerpWithdrawResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _CLOBMarketsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class CLOBMarketsRequest(_CLOBMarketsRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


class _CLOBMarketsResponseMarkets(TypedDict):
    market: str
    base: str
    quote: str
    lotSize: str  # Amounts are multiples of it.
    orderTypes: list[Literal["LIMIT", "LIMIT_MAKER", "MARKET"]]
    timeInForce: list[Literal["GTC", "IOC", "FOK"]]
    takes: dict[str, list[Literal["GTC", "IOC", "FOK"]]]  # Times in force by order type; the first is the default.
    makerFee: str  # Fraction of the traded amount; below 0 if the exchange pays it.
    takerFee: str  # Fraction of the traded amount.
    status: Literal["open", "paused", "closed"]


@final
class CLOBMarketsResponseMarkets(_CLOBMarketsResponseMarkets, total=False):
    tickSize: str  # Prices are multiples of it.
    priceSignificantFigures: float  # Maximum of significant figures of prices; an integer may have more.
    priceDecimals: float  # Maximum of decimals of prices.
    minOrderSize: str  # Of base.
    minNotional: str  # Of price times amount, in quote.
    maxLeverage: str  # Maximum of the leverage of an order.


@final
class CLOBMarketsResponseUnavailable(TypedDict):
    market: str
    reason: str


class _CLOBMarketsResponse(TypedDict):
    markets: dict[str, CLOBMarketsResponseMarkets]  # By the name of the market, BASE-QUOTE.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarketsResponse(_CLOBMarketsResponse, total=False):
    unavailable: list[CLOBMarketsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _CLOBTickerRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class CLOBTickerRequest(_CLOBTickerRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


class _CLOBTickerResponseMarkets(TypedDict):
    bestBid: str | None  # null without bids.
    bestAsk: str | None  # null without asks.
    lastPrice: str | None  # null without a known trade.
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class CLOBTickerResponseMarkets(_CLOBTickerResponseMarkets, total=False):
    volume24h: str  # Of base.


class _CLOBTickerResponse(TypedDict):
    markets: dict[str, CLOBTickerResponseMarkets]  # By the name of the market.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBTickerResponse(_CLOBTickerResponse, total=False):
    failing: dict[str, str]  # Markets that are unknown now, and why. Only if all were requested.


class _CLOBOrderBookRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBOrderBookRequest(_CLOBOrderBookRequest, total=False):
    depth: int  # Maximum of levels of each side.


@final
class CLOBOrderBookResponseBuys(TypedDict):
    price: str  # Quote per one base.
    quantity: str  # Of base.


@final
class CLOBOrderBookResponseSells(TypedDict):
    price: str  # Quote per one base.
    quantity: str  # Of base.


class _CLOBOrderBookResponse(TypedDict):
    market: str
    buys: list[CLOBOrderBookResponseBuys]  # Best first.
    sells: list[CLOBOrderBookResponseSells]  # Best first.
    sequence: float  # Increases with every change of this book.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBOrderBookResponse(_CLOBOrderBookResponse, total=False):
    blockNumber: float  # The block of the book, if it is on chain.


class _CLOBOrdersRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBOrdersRequest(_CLOBOrdersRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]  # Only those in this state.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _CLOBOrdersResponseOrders(TypedDict):
    market: str
    side: Literal["BUY", "SELL"]
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]
    price: str  # The limit; for a MARKET order the worst price to accept.
    amount: str  # Of base.
    filledAmount: str  # Of base. A filled order may have a rest that the exchange cannot trade, worth less than the smallest unit of quote.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    createdAt: float  # Milliseconds since the Unix epoch.
    updatedAt: float  # Milliseconds since the Unix epoch.


@final
class CLOBOrdersResponseOrders(_CLOBOrdersResponseOrders, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    clientOrderId: str  # Of orders that this server placed, or if the exchange stores it.
    timeInForce: Literal["GTC", "IOC", "FOK"]
    averagePrice: str  # Of what was filled.
    reason: str  # Why it was refused, or failed.
    txHash: str  # Of the transaction that placed it, if there is one.


class _CLOBOrdersResponse(TypedDict):
    orders: list[CLOBOrdersResponseOrders]  # Newest first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBOrdersResponse(_CLOBOrdersResponse, total=False):
    nextCursor: str  # There are more entries: request them with this as `cursor`.


class _CLOBOrdersPostRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    side: Literal["BUY", "SELL"]  # BUY or SELL of the base token, in any letter case.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]  # LIMIT_MAKER is a limit order that is refused if it would trade at once.
    amount: Amount  # Of base.


@final
class CLOBOrdersPostRequest(_CLOBOrdersPostRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    price: Amount  # The limit, quote per one base. Only for LIMIT and LIMIT_MAKER.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    timeInForce: Literal["GTC", "IOC", "FOK"]  # Absent: the first that /clob/markets shows for the order type.
    limitPrice: Amount  # For MARKET: the worst price to accept, quote per one base.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.


class _CLOBOrdersPostResponse(TypedDict):
    clientOrderId: str  # The caller's, or a generated one.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBOrdersPostResponse(_CLOBOrdersPostResponse, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    filledAmount: str  # If the exchange reported it at once. A filled order may have a rest that the exchange cannot trade.
    averagePrice: str  # Of what was filled at once.
    limitPrice: str  # For MARKET: the limit that the exchange enforces.
    reason: str  # Why the exchange refused it.
    txHash: str  # If an order is a transaction.
    nonce: float  # If an order is a transaction.


class _CLOBOrdersDeleteRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBOrdersDeleteRequest(_CLOBOrdersDeleteRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.


class _CLOBOrdersDeleteResponse(TypedDict):
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]  # Of the order: FILLED if it was filled before it could be cancelled.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBOrdersDeleteResponse(_CLOBOrdersDeleteResponse, total=False):
    orderId: str
    clientOrderId: str
    filledAmount: str  # Of base, if known. A filled order may have a rest that the exchange cannot trade.
    reason: str
    txHash: str  # Of the cancel, if it is a transaction.
    nonce: float


class _CLOBBatchOrdersRequestCreate(TypedDict):
    side: Literal["BUY", "SELL"]  # BUY or SELL of the base token, in any letter case.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]  # LIMIT_MAKER is a limit order that is refused if it would trade at once.
    amount: Amount  # Of base.


@final
class CLOBBatchOrdersRequestCreate(_CLOBBatchOrdersRequestCreate, total=False):
    price: Amount  # The limit, quote per one base. Only for LIMIT and LIMIT_MAKER.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    timeInForce: Literal["GTC", "IOC", "FOK"]  # Absent: the first that /clob/markets shows for the order type.
    limitPrice: Amount  # For MARKET: the worst price to accept, quote per one base.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.


class _CLOBBatchOrdersRequestCancel(TypedDict):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBBatchOrdersRequestCancel(_CLOBBatchOrdersRequestCancel, total=False):
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.


class _CLOBBatchOrdersRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBBatchOrdersRequest(_CLOBBatchOrdersRequest, total=False):
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    create: list[CLOBBatchOrdersRequestCreate]  # Orders to place.
    cancel: list[CLOBBatchOrdersRequestCancel]  # Orders to cancel, before others are placed.


class _CLOBBatchOrdersResponseCreatedError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class CLOBBatchOrdersResponseCreatedError(_CLOBBatchOrdersResponseCreatedError, total=False):
    details: Any


@final
class CLOBBatchOrdersResponseCreated(TypedDict, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    clientOrderId: str
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    filledAmount: str  # If the exchange reported it at once. A filled order may have a rest that the exchange cannot trade.
    averagePrice: str  # Of what was filled at once.
    limitPrice: str  # For MARKET: the limit that the exchange enforces.
    reason: str  # Why the exchange refused it.
    txHash: str  # If an order is a transaction.
    nonce: float  # If an order is a transaction.
    error: CLOBBatchOrdersResponseCreatedError  # Why this one failed. The others continue.


class _CLOBBatchOrdersResponseCancelledError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class CLOBBatchOrdersResponseCancelledError(_CLOBBatchOrdersResponseCancelledError, total=False):
    details: Any


@final
class CLOBBatchOrdersResponseCancelled(TypedDict, total=False):
    orderId: str
    clientOrderId: str
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    filledAmount: str  # Of base, if known. A filled order may have a rest that the exchange cannot trade.
    reason: str
    txHash: str  # Of the cancel, if it is a transaction.
    nonce: float
    error: CLOBBatchOrdersResponseCancelledError  # Why this one failed. The others continue.


@final
class CLOBBatchOrdersResponse(TypedDict):
    created: list[CLOBBatchOrdersResponseCreated]  # One for each of `create`, in its order.
    cancelled: list[CLOBBatchOrdersResponseCancelled]  # One for each of `cancel`, in its order.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _CLOBTradesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBTradesRequest(_CLOBTradesRequest, total=False):
    address: str  # Only trades of this wallet. Absent: trades of all.
    orderId: Amount  # The id of the order on the exchange.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _CLOBTradesResponseTrades(TypedDict):
    tradeId: str
    market: str
    side: Literal["BUY", "SELL"]  # The wallet's side if the request has an address, else the taker's.
    price: str  # Quote per one base.
    amount: str  # Of base.
    fee: str  # In `feeToken`; below 0 if the wallet received it.
    feeToken: str
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class CLOBTradesResponseTrades(_CLOBTradesResponseTrades, total=False):
    orderId: str
    txHash: str


@final
class CLOBTradesResponseUnavailable(TypedDict):
    tradeId: str
    reason: str


class _CLOBTradesResponse(TypedDict):
    trades: list[CLOBTradesResponseTrades]  # Newest first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBTradesResponse(_CLOBTradesResponse, total=False):
    unavailable: list[CLOBTradesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    nextCursor: str  # There are more entries: request them with this as `cursor`.


@final
class CLOBBalancesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBBalancesResponseBalances(TypedDict):
    total: str
    available: str  # Available for orders.
    locked: str  # Reserved by orders.


@final
class CLOBBalancesResponseUnavailable(TypedDict):
    token: str
    reason: str


class _CLOBBalancesResponse(TypedDict):
    balances: dict[str, CLOBBalancesResponseBalances]  # What is held in the exchange, by symbol.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBBalancesResponse(_CLOBBalancesResponse, total=False):
    unavailable: list[CLOBBalancesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _CLOBDepositRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBDepositRequest(_CLOBDepositRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    fromChain: str  # The chain to deposit from, if the exchange accepts deposits from it. Token, nonce and fees are of that chain. Absent: the exchange's default. There the spender that has the connector's name takes the token and needs an allowance; from another chain it may be a transfer, which needs none.


class _CLOBDepositResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBDepositResponse(_CLOBDepositResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float
    fromChain: str  # As in the request: txHash and nonce are of that chain.
    fromNetwork: str  # The network of that chain, for /network/poll.


class _CLOBWithdrawRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBWithdrawRequest(_CLOBWithdrawRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _CLOBWithdrawResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBWithdrawResponse(_CLOBWithdrawResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float


@final
class CLOBEstimateGasRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


class _CLOBEstimateGasResponse(TypedDict):
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBEstimateGasResponse(_CLOBEstimateGasResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _CLOBMarginMarketsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class CLOBMarginMarketsRequest(_CLOBMarginMarketsRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


class _CLOBMarginMarketsResponseMarkets(TypedDict):
    market: str
    base: str
    quote: str
    lotSize: str  # Amounts are multiples of it.
    orderTypes: list[Literal["LIMIT", "LIMIT_MAKER", "MARKET"]]
    timeInForce: list[Literal["GTC", "IOC", "FOK"]]
    takes: dict[str, list[Literal["GTC", "IOC", "FOK"]]]  # Times in force by order type; the first is the default.
    makerFee: str  # Fraction of the traded amount; below 0 if the exchange pays it.
    takerFee: str  # Fraction of the traded amount.
    status: Literal["open", "paused", "closed"]


@final
class CLOBMarginMarketsResponseMarkets(_CLOBMarginMarketsResponseMarkets, total=False):
    tickSize: str  # Prices are multiples of it.
    priceSignificantFigures: float  # Maximum of significant figures of prices; an integer may have more.
    priceDecimals: float  # Maximum of decimals of prices.
    minOrderSize: str  # Of base.
    minNotional: str  # Of price times amount, in quote.
    maxLeverage: str  # Maximum of the leverage of an order.


@final
class CLOBMarginMarketsResponseUnavailable(TypedDict):
    market: str
    reason: str


class _CLOBMarginMarketsResponse(TypedDict):
    markets: dict[str, CLOBMarginMarketsResponseMarkets]  # By the name of the market, BASE-QUOTE.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginMarketsResponse(_CLOBMarginMarketsResponse, total=False):
    unavailable: list[CLOBMarginMarketsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _CLOBMarginTickerRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class CLOBMarginTickerRequest(_CLOBMarginTickerRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


class _CLOBMarginTickerResponseMarkets(TypedDict):
    bestBid: str | None  # null without bids.
    bestAsk: str | None  # null without asks.
    lastPrice: str | None  # null without a known trade.
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class CLOBMarginTickerResponseMarkets(_CLOBMarginTickerResponseMarkets, total=False):
    volume24h: str  # Of base.


class _CLOBMarginTickerResponse(TypedDict):
    markets: dict[str, CLOBMarginTickerResponseMarkets]  # By the name of the market.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginTickerResponse(_CLOBMarginTickerResponse, total=False):
    failing: dict[str, str]  # Markets that are unknown now, and why. Only if all were requested.


class _CLOBMarginOrderBookRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBMarginOrderBookRequest(_CLOBMarginOrderBookRequest, total=False):
    depth: int  # Maximum of levels of each side.


@final
class CLOBMarginOrderBookResponseBuys(TypedDict):
    price: str  # Quote per one base.
    quantity: str  # Of base.


@final
class CLOBMarginOrderBookResponseSells(TypedDict):
    price: str  # Quote per one base.
    quantity: str  # Of base.


class _CLOBMarginOrderBookResponse(TypedDict):
    market: str
    buys: list[CLOBMarginOrderBookResponseBuys]  # Best first.
    sells: list[CLOBMarginOrderBookResponseSells]  # Best first.
    sequence: float  # Increases with every change of this book.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginOrderBookResponse(_CLOBMarginOrderBookResponse, total=False):
    blockNumber: float  # The block of the book, if it is on chain.


class _CLOBMarginOrdersRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBMarginOrdersRequest(_CLOBMarginOrdersRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]  # Only those in this state.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _CLOBMarginOrdersResponseOrders(TypedDict):
    market: str
    side: Literal["BUY", "SELL"]
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]
    price: str  # The limit; for a MARKET order the worst price to accept.
    amount: str  # Of base.
    filledAmount: str  # Of base. A filled order may have a rest that the exchange cannot trade, worth less than the smallest unit of quote.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    createdAt: float  # Milliseconds since the Unix epoch.
    updatedAt: float  # Milliseconds since the Unix epoch.


@final
class CLOBMarginOrdersResponseOrders(_CLOBMarginOrdersResponseOrders, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    clientOrderId: str  # Of orders that this server placed, or if the exchange stores it.
    timeInForce: Literal["GTC", "IOC", "FOK"]
    averagePrice: str  # Of what was filled.
    reason: str  # Why it was refused, or failed.
    txHash: str  # Of the transaction that placed it, if there is one.


class _CLOBMarginOrdersResponse(TypedDict):
    orders: list[CLOBMarginOrdersResponseOrders]  # Newest first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginOrdersResponse(_CLOBMarginOrdersResponse, total=False):
    nextCursor: str  # There are more entries: request them with this as `cursor`.


class _CLOBMarginOrdersPostRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    side: Literal["BUY", "SELL"]  # BUY or SELL of the base token, in any letter case.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]  # LIMIT_MAKER is a limit order that is refused if it would trade at once.
    amount: Amount  # Of base.


@final
class CLOBMarginOrdersPostRequest(_CLOBMarginOrdersPostRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    price: Amount  # The limit, quote per one base. Only for LIMIT and LIMIT_MAKER.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    timeInForce: Literal["GTC", "IOC", "FOK"]  # Absent: the first that /clob/markets shows for the order type.
    limitPrice: Amount  # For MARKET: the worst price to accept, quote per one base.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    leverage: Amount  # The leverage of the order. Absent: that of the account.
    reduceOnly: bool  # The order may only reduce a position.


class _CLOBMarginOrdersPostResponse(TypedDict):
    clientOrderId: str  # The caller's, or a generated one.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginOrdersPostResponse(_CLOBMarginOrdersPostResponse, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    filledAmount: str  # If the exchange reported it at once. A filled order may have a rest that the exchange cannot trade.
    averagePrice: str  # Of what was filled at once.
    limitPrice: str  # For MARKET: the limit that the exchange enforces.
    reason: str  # Why the exchange refused it.
    txHash: str  # If an order is a transaction.
    nonce: float  # If an order is a transaction.


class _CLOBMarginOrdersDeleteRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBMarginOrdersDeleteRequest(_CLOBMarginOrdersDeleteRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.


class _CLOBMarginOrdersDeleteResponse(TypedDict):
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]  # Of the order: FILLED if it was filled before it could be cancelled.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginOrdersDeleteResponse(_CLOBMarginOrdersDeleteResponse, total=False):
    orderId: str
    clientOrderId: str
    filledAmount: str  # Of base, if known. A filled order may have a rest that the exchange cannot trade.
    reason: str
    txHash: str  # Of the cancel, if it is a transaction.
    nonce: float


class _CLOBMarginBatchOrdersRequestCreate(TypedDict):
    side: Literal["BUY", "SELL"]  # BUY or SELL of the base token, in any letter case.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]  # LIMIT_MAKER is a limit order that is refused if it would trade at once.
    amount: Amount  # Of base.


@final
class CLOBMarginBatchOrdersRequestCreate(_CLOBMarginBatchOrdersRequestCreate, total=False):
    price: Amount  # The limit, quote per one base. Only for LIMIT and LIMIT_MAKER.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    timeInForce: Literal["GTC", "IOC", "FOK"]  # Absent: the first that /clob/markets shows for the order type.
    limitPrice: Amount  # For MARKET: the worst price to accept, quote per one base.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    leverage: Amount  # The leverage of the order. Absent: that of the account.
    reduceOnly: bool  # The order may only reduce a position.


class _CLOBMarginBatchOrdersRequestCancel(TypedDict):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBMarginBatchOrdersRequestCancel(_CLOBMarginBatchOrdersRequestCancel, total=False):
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.


class _CLOBMarginBatchOrdersRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBMarginBatchOrdersRequest(_CLOBMarginBatchOrdersRequest, total=False):
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    create: list[CLOBMarginBatchOrdersRequestCreate]  # Orders to place.
    cancel: list[CLOBMarginBatchOrdersRequestCancel]  # Orders to cancel, before others are placed.


class _CLOBMarginBatchOrdersResponseCreatedError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class CLOBMarginBatchOrdersResponseCreatedError(_CLOBMarginBatchOrdersResponseCreatedError, total=False):
    details: Any


@final
class CLOBMarginBatchOrdersResponseCreated(TypedDict, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    clientOrderId: str
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    filledAmount: str  # If the exchange reported it at once. A filled order may have a rest that the exchange cannot trade.
    averagePrice: str  # Of what was filled at once.
    limitPrice: str  # For MARKET: the limit that the exchange enforces.
    reason: str  # Why the exchange refused it.
    txHash: str  # If an order is a transaction.
    nonce: float  # If an order is a transaction.
    error: CLOBMarginBatchOrdersResponseCreatedError  # Why this one failed. The others continue.


class _CLOBMarginBatchOrdersResponseCancelledError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class CLOBMarginBatchOrdersResponseCancelledError(_CLOBMarginBatchOrdersResponseCancelledError, total=False):
    details: Any


@final
class CLOBMarginBatchOrdersResponseCancelled(TypedDict, total=False):
    orderId: str
    clientOrderId: str
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    filledAmount: str  # Of base, if known. A filled order may have a rest that the exchange cannot trade.
    reason: str
    txHash: str  # Of the cancel, if it is a transaction.
    nonce: float
    error: CLOBMarginBatchOrdersResponseCancelledError  # Why this one failed. The others continue.


@final
class CLOBMarginBatchOrdersResponse(TypedDict):
    created: list[CLOBMarginBatchOrdersResponseCreated]  # One for each of `create`, in its order.
    cancelled: list[CLOBMarginBatchOrdersResponseCancelled]  # One for each of `cancel`, in its order.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _CLOBMarginTradesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBMarginTradesRequest(_CLOBMarginTradesRequest, total=False):
    address: str  # Only trades of this wallet. Absent: trades of all.
    orderId: Amount  # The id of the order on the exchange.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _CLOBMarginTradesResponseTrades(TypedDict):
    tradeId: str
    market: str
    side: Literal["BUY", "SELL"]  # The wallet's side if the request has an address, else the taker's.
    price: str  # Quote per one base.
    amount: str  # Of base.
    fee: str  # In `feeToken`; below 0 if the wallet received it.
    feeToken: str
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class CLOBMarginTradesResponseTrades(_CLOBMarginTradesResponseTrades, total=False):
    orderId: str
    txHash: str


@final
class CLOBMarginTradesResponseUnavailable(TypedDict):
    tradeId: str
    reason: str


class _CLOBMarginTradesResponse(TypedDict):
    trades: list[CLOBMarginTradesResponseTrades]  # Newest first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginTradesResponse(_CLOBMarginTradesResponse, total=False):
    unavailable: list[CLOBMarginTradesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    nextCursor: str  # There are more entries: request them with this as `cursor`.


@final
class CLOBMarginBalancesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBMarginBalancesResponseBalances(TypedDict):
    total: str
    available: str  # Available for orders.
    locked: str  # Reserved by orders.


@final
class CLOBMarginBalancesResponseUnavailable(TypedDict):
    token: str
    reason: str


class _CLOBMarginBalancesResponse(TypedDict):
    balances: dict[str, CLOBMarginBalancesResponseBalances]  # What is held in the exchange, by symbol.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginBalancesResponse(_CLOBMarginBalancesResponse, total=False):
    unavailable: list[CLOBMarginBalancesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _CLOBMarginDepositRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBMarginDepositRequest(_CLOBMarginDepositRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    fromChain: str  # The chain to deposit from, if the exchange accepts deposits from it. Token, nonce and fees are of that chain. Absent: the exchange's default. There the spender that has the connector's name takes the token and needs an allowance; from another chain it may be a transfer, which needs none.


class _CLOBMarginDepositResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginDepositResponse(_CLOBMarginDepositResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float
    fromChain: str  # As in the request: txHash and nonce are of that chain.
    fromNetwork: str  # The network of that chain, for /network/poll.


class _CLOBMarginWithdrawRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBMarginWithdrawRequest(_CLOBMarginWithdrawRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _CLOBMarginWithdrawResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginWithdrawResponse(_CLOBMarginWithdrawResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float


@final
class CLOBMarginEstimateGasRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


class _CLOBMarginEstimateGasResponse(TypedDict):
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginEstimateGasResponse(_CLOBMarginEstimateGasResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


@final
class CLOBMarginAccountRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


class _CLOBMarginAccountResponseTokens(TypedDict):
    deposited: str
    borrowed: str  # Including interest until now.
    available: str  # Available for withdrawal now.
    borrowRate: str  # Per year: "0.05" is 5 %.


@final
class CLOBMarginAccountResponseTokens(_CLOBMarginAccountResponseTokens, total=False):
    borrowCap: str  # Maximum that the wallet may owe.


@final
class CLOBMarginAccountResponseUnavailable(TypedDict):
    token: str
    reason: str


class _CLOBMarginAccountResponse(TypedDict):
    mode: str  # The exchange's own name of it.
    sharedWith: list[str]  # What shares its equity, such as perpetual positions.
    equity: str  # Value of the account, in the unit of account of the exchange.
    collateral: str
    borrowed: str
    freeCollateral: str
    initialMargin: str
    maintenanceMargin: str
    marginRatio: str  # As the exchange computes it; "0" without positions.
    tokens: dict[str, CLOBMarginAccountResponseTokens]  # By symbol.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginAccountResponse(_CLOBMarginAccountResponse, total=False):
    unavailable: list[CLOBMarginAccountResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _CLOBMarginBorrowRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBMarginBorrowRequest(_CLOBMarginBorrowRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _CLOBMarginBorrowResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginBorrowResponse(_CLOBMarginBorrowResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float


class _CLOBMarginRepayRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBMarginRepayRequest(_CLOBMarginRepayRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _CLOBMarginRepayResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBMarginRepayResponse(_CLOBMarginRepayResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float


class _CLOBPerpMarketsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class CLOBPerpMarketsRequest(_CLOBPerpMarketsRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


class _CLOBPerpMarketsResponseMarkets(TypedDict):
    market: str
    base: str
    quote: str
    lotSize: str  # Amounts are multiples of it.
    orderTypes: list[Literal["LIMIT", "LIMIT_MAKER", "MARKET"]]
    timeInForce: list[Literal["GTC", "IOC", "FOK"]]
    takes: dict[str, list[Literal["GTC", "IOC", "FOK"]]]  # Times in force by order type; the first is the default.
    makerFee: str  # Fraction of the traded amount; below 0 if the exchange pays it.
    takerFee: str  # Fraction of the traded amount.
    status: Literal["open", "paused", "closed"]


@final
class CLOBPerpMarketsResponseMarkets(_CLOBPerpMarketsResponseMarkets, total=False):
    tickSize: str  # Prices are multiples of it.
    priceSignificantFigures: float  # Maximum of significant figures of prices; an integer may have more.
    priceDecimals: float  # Maximum of decimals of prices.
    minOrderSize: str  # Of base.
    minNotional: str  # Of price times amount, in quote.
    maxLeverage: str  # Maximum of the leverage of an order.


@final
class CLOBPerpMarketsResponseUnavailable(TypedDict):
    market: str
    reason: str


class _CLOBPerpMarketsResponse(TypedDict):
    markets: dict[str, CLOBPerpMarketsResponseMarkets]  # By the name of the market, BASE-QUOTE.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpMarketsResponse(_CLOBPerpMarketsResponse, total=False):
    unavailable: list[CLOBPerpMarketsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _CLOBPerpTickerRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


@final
class CLOBPerpTickerRequest(_CLOBPerpTickerRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


class _CLOBPerpTickerResponseMarkets(TypedDict):
    bestBid: str | None  # null without bids.
    bestAsk: str | None  # null without asks.
    lastPrice: str | None  # null without a known trade.
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class CLOBPerpTickerResponseMarkets(_CLOBPerpTickerResponseMarkets, total=False):
    volume24h: str  # Of base.


class _CLOBPerpTickerResponse(TypedDict):
    markets: dict[str, CLOBPerpTickerResponseMarkets]  # By the name of the market.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpTickerResponse(_CLOBPerpTickerResponse, total=False):
    failing: dict[str, str]  # Markets that are unknown now, and why. Only if all were requested.


class _CLOBPerpOrderBookRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBPerpOrderBookRequest(_CLOBPerpOrderBookRequest, total=False):
    depth: int  # Maximum of levels of each side.


@final
class CLOBPerpOrderBookResponseBuys(TypedDict):
    price: str  # Quote per one base.
    quantity: str  # Of base.


@final
class CLOBPerpOrderBookResponseSells(TypedDict):
    price: str  # Quote per one base.
    quantity: str  # Of base.


class _CLOBPerpOrderBookResponse(TypedDict):
    market: str
    buys: list[CLOBPerpOrderBookResponseBuys]  # Best first.
    sells: list[CLOBPerpOrderBookResponseSells]  # Best first.
    sequence: float  # Increases with every change of this book.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpOrderBookResponse(_CLOBPerpOrderBookResponse, total=False):
    blockNumber: float  # The block of the book, if it is on chain.


class _CLOBPerpOrdersRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBPerpOrdersRequest(_CLOBPerpOrdersRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]  # Only those in this state.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _CLOBPerpOrdersResponseOrders(TypedDict):
    market: str
    side: Literal["BUY", "SELL"]
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]
    price: str  # The limit; for a MARKET order the worst price to accept.
    amount: str  # Of base.
    filledAmount: str  # Of base. A filled order may have a rest that the exchange cannot trade, worth less than the smallest unit of quote.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    createdAt: float  # Milliseconds since the Unix epoch.
    updatedAt: float  # Milliseconds since the Unix epoch.


@final
class CLOBPerpOrdersResponseOrders(_CLOBPerpOrdersResponseOrders, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    clientOrderId: str  # Of orders that this server placed, or if the exchange stores it.
    timeInForce: Literal["GTC", "IOC", "FOK"]
    averagePrice: str  # Of what was filled.
    reason: str  # Why it was refused, or failed.
    txHash: str  # Of the transaction that placed it, if there is one.


class _CLOBPerpOrdersResponse(TypedDict):
    orders: list[CLOBPerpOrdersResponseOrders]  # Newest first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpOrdersResponse(_CLOBPerpOrdersResponse, total=False):
    nextCursor: str  # There are more entries: request them with this as `cursor`.


class _CLOBPerpOrdersPostRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    side: Literal["BUY", "SELL", "LONG", "SHORT"]  # BUY or SELL, in any letter case; LONG and SHORT mean the same.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]  # LIMIT_MAKER is a limit order that is refused if it would trade at once.
    amount: Amount  # Of base.


@final
class CLOBPerpOrdersPostRequest(_CLOBPerpOrdersPostRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    price: Amount  # The limit, quote per one base. Only for LIMIT and LIMIT_MAKER.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    timeInForce: Literal["GTC", "IOC", "FOK"]  # Absent: the first that /clob/markets shows for the order type.
    limitPrice: Amount  # For MARKET: the worst price to accept, quote per one base.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    leverage: Amount  # The leverage of the order. Absent: that of the account.
    reduceOnly: bool  # The order may only reduce a position.


class _CLOBPerpOrdersPostResponse(TypedDict):
    clientOrderId: str  # The caller's, or a generated one.
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpOrdersPostResponse(_CLOBPerpOrdersPostResponse, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    filledAmount: str  # If the exchange reported it at once. A filled order may have a rest that the exchange cannot trade.
    averagePrice: str  # Of what was filled at once.
    limitPrice: str  # For MARKET: the limit that the exchange enforces.
    reason: str  # Why the exchange refused it.
    txHash: str  # If an order is a transaction.
    nonce: float  # If an order is a transaction.


class _CLOBPerpOrdersDeleteRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBPerpOrdersDeleteRequest(_CLOBPerpOrdersDeleteRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.


class _CLOBPerpOrdersDeleteResponse(TypedDict):
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]  # Of the order: FILLED if it was filled before it could be cancelled.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpOrdersDeleteResponse(_CLOBPerpOrdersDeleteResponse, total=False):
    orderId: str
    clientOrderId: str
    filledAmount: str  # Of base, if known. A filled order may have a rest that the exchange cannot trade.
    reason: str
    txHash: str  # Of the cancel, if it is a transaction.
    nonce: float


class _CLOBPerpBatchOrdersRequestCreate(TypedDict):
    side: Literal["BUY", "SELL", "LONG", "SHORT"]  # BUY or SELL, in any letter case; LONG and SHORT mean the same.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    orderType: Literal["LIMIT", "LIMIT_MAKER", "MARKET"]  # LIMIT_MAKER is a limit order that is refused if it would trade at once.
    amount: Amount  # Of base.


@final
class CLOBPerpBatchOrdersRequestCreate(_CLOBPerpBatchOrdersRequestCreate, total=False):
    price: Amount  # The limit, quote per one base. Only for LIMIT and LIMIT_MAKER.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.
    timeInForce: Literal["GTC", "IOC", "FOK"]  # Absent: the first that /clob/markets shows for the order type.
    limitPrice: Amount  # For MARKET: the worst price to accept, quote per one base.
    allowedSlippage: str  # How far the price may move against the caller. It may only be tighter than the configured one.
    leverage: Amount  # The leverage of the order. Absent: that of the account.
    reduceOnly: bool  # The order may only reduce a position.


class _CLOBPerpBatchOrdersRequestCancel(TypedDict):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBPerpBatchOrdersRequestCancel(_CLOBPerpBatchOrdersRequestCancel, total=False):
    orderId: Amount  # The id of the order on the exchange.
    clientOrderId: str  # The caller's own id of an order, unique for a wallet on an exchange.


class _CLOBPerpBatchOrdersRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBPerpBatchOrdersRequest(_CLOBPerpBatchOrdersRequest, total=False):
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    create: list[CLOBPerpBatchOrdersRequestCreate]  # Orders to place.
    cancel: list[CLOBPerpBatchOrdersRequestCancel]  # Orders to cancel, before others are placed.


class _CLOBPerpBatchOrdersResponseCreatedError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class CLOBPerpBatchOrdersResponseCreatedError(_CLOBPerpBatchOrdersResponseCreatedError, total=False):
    details: Any


@final
class CLOBPerpBatchOrdersResponseCreated(TypedDict, total=False):
    orderId: str  # Absent until the exchange has assigned one.
    clientOrderId: str
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    filledAmount: str  # If the exchange reported it at once. A filled order may have a rest that the exchange cannot trade.
    averagePrice: str  # Of what was filled at once.
    limitPrice: str  # For MARKET: the limit that the exchange enforces.
    reason: str  # Why the exchange refused it.
    txHash: str  # If an order is a transaction.
    nonce: float  # If an order is a transaction.
    error: CLOBPerpBatchOrdersResponseCreatedError  # Why this one failed. The others continue.


class _CLOBPerpBatchOrdersResponseCancelledError(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class CLOBPerpBatchOrdersResponseCancelledError(_CLOBPerpBatchOrdersResponseCancelledError, total=False):
    details: Any


@final
class CLOBPerpBatchOrdersResponseCancelled(TypedDict, total=False):
    orderId: str
    clientOrderId: str
    state: Literal["PENDING_OPEN", "OPEN", "PARTIALLY_FILLED", "FILLED", "PENDING_CANCEL", "CANCELED", "EXPIRED", "REJECTED", "FAILED"]
    filledAmount: str  # Of base, if known. A filled order may have a rest that the exchange cannot trade.
    reason: str
    txHash: str  # Of the cancel, if it is a transaction.
    nonce: float
    error: CLOBPerpBatchOrdersResponseCancelledError  # Why this one failed. The others continue.


@final
class CLOBPerpBatchOrdersResponse(TypedDict):
    created: list[CLOBPerpBatchOrdersResponseCreated]  # One for each of `create`, in its order.
    cancelled: list[CLOBPerpBatchOrdersResponseCancelled]  # One for each of `cancel`, in its order.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _CLOBPerpTradesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBPerpTradesRequest(_CLOBPerpTradesRequest, total=False):
    address: str  # Only trades of this wallet. Absent: trades of all.
    orderId: Amount  # The id of the order on the exchange.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


class _CLOBPerpTradesResponseTrades(TypedDict):
    tradeId: str
    market: str
    side: Literal["BUY", "SELL"]  # The wallet's side if the request has an address, else the taker's.
    price: str  # Quote per one base.
    amount: str  # Of base.
    fee: str  # In `feeToken`; below 0 if the wallet received it.
    feeToken: str
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class CLOBPerpTradesResponseTrades(_CLOBPerpTradesResponseTrades, total=False):
    orderId: str
    txHash: str


@final
class CLOBPerpTradesResponseUnavailable(TypedDict):
    tradeId: str
    reason: str


class _CLOBPerpTradesResponse(TypedDict):
    trades: list[CLOBPerpTradesResponseTrades]  # Newest first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpTradesResponse(_CLOBPerpTradesResponse, total=False):
    unavailable: list[CLOBPerpTradesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    nextCursor: str  # There are more entries: request them with this as `cursor`.


@final
class CLOBPerpBalancesRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBPerpBalancesResponseBalances(TypedDict):
    total: str
    available: str  # Available for orders.
    locked: str  # Reserved by orders.


@final
class CLOBPerpBalancesResponseUnavailable(TypedDict):
    token: str
    reason: str


class _CLOBPerpBalancesResponse(TypedDict):
    balances: dict[str, CLOBPerpBalancesResponseBalances]  # What is held in the exchange, by symbol.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpBalancesResponse(_CLOBPerpBalancesResponse, total=False):
    unavailable: list[CLOBPerpBalancesResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


class _CLOBPerpDepositRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBPerpDepositRequest(_CLOBPerpDepositRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    fromChain: str  # The chain to deposit from, if the exchange accepts deposits from it. Token, nonce and fees are of that chain. Absent: the exchange's default. There the spender that has the connector's name takes the token and needs an allowance; from another chain it may be a transfer, which needs none.


class _CLOBPerpDepositResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpDepositResponse(_CLOBPerpDepositResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float
    fromChain: str  # As in the request: txHash and nonce are of that chain.
    fromNetwork: str  # The network of that chain, for /network/poll.


class _CLOBPerpWithdrawRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    token: str  # A symbol of the network's token list, or the address of a token.
    amount: Amount  # Of the token.


@final
class CLOBPerpWithdrawRequest(_CLOBPerpWithdrawRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.


class _CLOBPerpWithdrawResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    token: str  # Its address.
    amount: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpWithdrawResponse(_CLOBPerpWithdrawResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float


@final
class CLOBPerpEstimateGasRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.


class _CLOBPerpEstimateGasResponse(TypedDict):
    gasPrice: float  # Base fee plus tip, in gwei: 10^-9 of the native coin.
    gasPriceToken: str  # Symbol of the token that pays for gas.
    gasLimit: float  # Gas limit in units, as it is or would be signed.
    gasCost: str  # In the gas token, as a decimal string.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpEstimateGasResponse(_CLOBPerpEstimateGasResponse, total=False):
    rent: str  # What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.


class _CLOBPerpPositionsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBPerpPositionsRequest(_CLOBPerpPositionsRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBPerpPositionsResponsePositions(TypedDict):
    market: str
    positionAmt: str  # Size in base, without sign; "0" without a position.
    positionSide: Literal["LONG", "SHORT"]
    unrealizedProfit: str  # In quote, at the mark price; below 0 is a loss.
    leverage: str  # The position's value divided by the account's value, or by its smallest unit if that is 0 or less.
    entryPrice: str  # Quote per one base.
    markPrice: str  # Quote per one base.
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.
    tickerSymbol: str  # ETHUSD
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.
    marginMode: Literal["cross", "isolated"]


@final
class CLOBPerpPositionsResponseUnavailable(TypedDict):
    market: str
    reason: str


class _CLOBPerpPositionsResponse(TypedDict):
    positions: list[CLOBPerpPositionsResponsePositions]
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpPositionsResponse(_CLOBPerpPositionsResponse, total=False):
    unavailable: list[CLOBPerpPositionsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.


@final
class CLOBPerpAccountRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBPerpAccountResponse(TypedDict):
    accountValue: str  # Collateral, profit and loss, and pending funding.
    freeCollateral: str  # Collateral available for a new position, by the rule of the exchange. Below 0 by what is missing, where an exchange itself may show 0.
    collateral: str  # What the wallet has in the exchange: deposits and realized profit, without unrealized profit and pending funding.
    initialMargin: str  # What its positions require to be opened.
    maintenanceMargin: str  # What its positions require not to be liquidated.
    marginRatio: str  # The account value divided by the value of the positions, possibly below 0; "0" without positions.
    leverage: str  # The value of the positions divided by the account value, or by its smallest unit if that is 0 or less; "0" without positions.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _CLOBPerpLeverageRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    leverage: Amount  # Maximum value of a position as a multiple of its margin.


@final
class CLOBPerpLeverageRequest(_CLOBPerpLeverageRequest, total=False):
    nonce: int  # Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.
    maxFeePerGas: Amount  # Maximum fee per gas, in gwei.
    maxPriorityFeePerGas: Amount  # Tip per gas, in gwei.
    marginMode: Literal["cross", "isolated"]  # Absent: the current mode of the exchange, or its default.


class _CLOBPerpLeverageResponse(TypedDict):
    id: str  # The transaction's hash, or the id of the signed action, as in /transactions.
    state: Literal["PENDING", "DONE", "REJECTED"]
    market: str
    leverage: str
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpLeverageResponse(_CLOBPerpLeverageResponse, total=False):
    reason: str  # Why the exchange refused it.
    txHash: str  # If it is a transaction.
    nonce: float


@final
class CLOBPerpFundingInfoRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBPerpFundingInfoResponse(TypedDict):
    market: str
    fundingRate: str  # Per funding interval; above 0 if longs pay shorts.
    indexPrice: str
    markPrice: str
    nextFundingTimestamp: float  # Milliseconds since the Unix epoch.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


class _CLOBPerpFundingPaymentsRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    address: str  # Address of a wallet whose key the server has.


@final
class CLOBPerpFundingPaymentsRequest(_CLOBPerpFundingPaymentsRequest, total=False):
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.
    limit: int  # Maximum of entries. 100 without it.
    cursor: str  # `nextCursor` of the previous page.


@final
class CLOBPerpFundingPaymentsResponsePayments(TypedDict):
    market: str
    amount: str  # In quote; above 0 if the wallet received it.
    rate: str
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class CLOBPerpFundingPaymentsResponseUnavailable(TypedDict):
    market: str
    reason: str


class _CLOBPerpFundingPaymentsResponse(TypedDict):
    payments: list[CLOBPerpFundingPaymentsResponsePayments]  # Newest first.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class CLOBPerpFundingPaymentsResponse(_CLOBPerpFundingPaymentsResponse, total=False):
    unavailable: list[CLOBPerpFundingPaymentsResponseUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    nextCursor: str  # There are more entries: request them with this as `cursor`.


@final
class CLOBPerpLastTradePriceRequest(TypedDict):
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    connector: str  # Name of a registered connector.
    market: str  # BASE-QUOTE, in any letter case; /clob/markets lists them.


@final
class CLOBPerpLastTradePriceResponse(TypedDict):
    market: str
    lastTradePrice: str  # Quote per one base.
    network: str
    timestamp: float  # Milliseconds since the Unix epoch.
    latency: float  # Seconds from the request to the answer.


@final
class EventsRequest(TypedDict, total=False):
    topics: list[Literal["transactions", "blocks", "orderBook", "price", "positions", "plugins", "stops", "approvals", "deliveries"]]  # Any of transactions, blocks, orderBook, price, positions, plugins, stops, approvals, deliveries. Without it, transactions.
    chain: str  # Name of a chain.
    network: str  # One of the chain's networks.
    address: str  # Of transactions: only those of this wallet. Of positions: the wallet.
    inUse: bool  # Of blocks: Whether networks are left out that nobody uses: those that are not required and that no request has named within a day. They are neither asked nor followed then.
    connector: str  # Of orderBook: the exchange. Of price: the exchange, or `any`: the best of all, whichever that is with each block. Of positions: the exchange.
    market: list[str]  # Of orderBook: the books. Of positions: in order books, only those in these markets.
    type: Literal["CLOB", "MARGIN_CLOB", "PERP_CLOB"]  # Of orderBook: the kind of market, if a connector has several. Without it, the first kind that has the name.
    depth: int  # Of orderBook: the maximum of levels of each side. 20 without it.
    connectors: list[str]  # With `any`: these alone. Without it: those that are built in. Plugins take part only where they are named here.
    price: list[str]  # Of price: the prices, each BASE:QUOTE:SIDE:AMOUNT, such as WETH:USDC:SELL:1.5.
    base: str  # Of price: one price by base, quote, side and amount, which are given together. Of positions: of PERP_AMM, only the one in the market of base and quote.
    quote: str  # Of price: as base. Of positions: as base.
    side: Literal["BUY", "SELL"]  # Of price: as base.
    amount: Amount  # Of price: of the base token.
    version: str  # Of price: only through pools of this version.
    lastEventId: str  # For clients that cannot set the header Last-Event-ID, which takes precedence. 0: from the first event.


class _TransactionsDataAttempts(TypedDict):
    txHash: str
    signedAt: float
    sends: float


@final
class TransactionsDataAttempts(_TransactionsDataAttempts, total=False):
    sentAt: float  # The last time that it was sent. Absent before the first, and in events.
    node: str  # The node that was the first to accept it when it was sent last. Absent where none did, of what an earlier version made, and in events.
    maxFee: str  # The most that it pays for its execution, in `feeToken`. Absent where its network is not there, or has no such fee.
    feeToken: str


@final
class TransactionsDataPermits(TypedDict):
    token: str  # Its address.
    spender: str
    amount: str
    expires: float  # Seconds since the Unix epoch.
    nonce: float  # Of Permit2, for this wallet, token and spender.
    state: str  # outstanding: whoever has seen the transaction may use it, whatever becomes of the transaction; used, or expired by the time of the blocks, once that is final.


@final
class TransactionsDataRequest(TypedDict):
    path: str
    fields: Any


class _TransactionsDataQuoteRoute(TypedDict):
    pool: str
    version: str
    tokenIn: str
    tokenOut: str


@final
class TransactionsDataQuoteRoute(_TransactionsDataQuoteRoute, total=False):
    fee: str  # Fraction of the input.
    share: str  # Fraction of the exact amount that takes this path, in hundredths, if the swap is split. The hops of one path come after those of the previous; each path begins with the input token. The last path takes the remainder of rounding.


class _TransactionsDataQuote(TypedDict):
    blockNumber: float
    source: Literal["memory", "rpc"]  # memory: no node was asked for it.
    route: list[TransactionsDataQuoteRoute]


@final
class TransactionsDataQuote(_TransactionsDataQuote, total=False):
    marketPrice: str  # Quote per one base by the market that limits hold trades against, over all connectors of the release, when it was planned: to SELL the highest, to BUY the lowest. Without such a market, of a request to any connector: the best price of those that were asked. Absent where neither was known.
    coinPrice: str  # Quote per one native coin when it was planned, rounded up. Absent where it was not known without asking.


class _TransactionsDataSimulated(TypedDict):
    token: str  # Its address; of one that is not counted in units `address/id`.
    rawAmount: str | None  # In the smallest unit. null: the native coin may have moved, and neither the receipt nor a balance told how much.


@final
class TransactionsDataSimulated(_TransactionsDataSimulated, total=False):
    symbol: str  # Absent of a token that is on no list.
    amount: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list.


@final
class TransactionsDataFill1(TypedDict):
    amountIn: str
    amountOut: str
    price: str


class _TransactionsDataFill2(TypedDict):
    tokenId: str
    liquidity: str  # Added or removed, an integer; 0 if only fees were collected.
    amount0: str  # In the order of the request's tokens; else in the pool's.
    amount1: str


@final
class TransactionsDataFill2(_TransactionsDataFill2, total=False):
    fees0: str  # Of what was removed or collected, the part that is fees: without liquidity that others had removed and left unpaid. Absent where the chain does not tell it, as of liquidity removed on v4.
    fees1: str
    lacksFees: bool  # true: the amounts may have liquidity that others had removed before, and the chain did not tell how much. `fees0` and `fees1` are absent then.


@final
class TransactionsDataFill3(TypedDict):
    pool: str
    shares: str  # Added or removed.
    tokens: list[str]  # Addresses, in the request's order; the zero address for the native coin.
    amounts: list[str]  # What the wallet paid to the pool, or the pool paid out, of each token.


class _TransactionsDataFill4(TypedDict):
    size: str  # In base.
    price: str  # Quote per one base, fees included.
    fee: str  # In quote.
    realizedProfit: str  # In quote: proceeds of the closed part less its cost, fees included. Below 0 is a loss.


@final
class TransactionsDataFill4(_TransactionsDataFill4, total=False):
    funding: str  # In quote: what was settled of the funding since the last change, beside the profit; below 0 it was paid. Absent where the receipt does not tell it.
    closedRatio: str  # Of a close: the fraction of the position that was closed, 1 for all of it.


class _TransactionsDataCost(TypedDict):
    rawFee: str  # In the native coin's smallest unit.


@final
class TransactionsDataCost(_TransactionsDataCost, total=False):
    fee: str  # In the native coin, the part of layer 1 with it. Absent where its network is not there.
    feeToken: str
    feeInQuote: str  # Of a trade: `fee` in its quote token, at `coinPrice`. Absent where that was not known.
    layer1Fee: str  # The part that a rollup charges for layer 1.
    gasUsed: str
    rent: str  # What accounts that it made keep of the native coin, beside `fee`, at most: on Solana. It comes back when they are closed. Absent where it made none, or its network is not there.


class _TransactionsDataSlippage(TypedDict):
    quote: str  # Against the price that was quoted.


@final
class TransactionsDataSlippage(_TransactionsDataSlippage, total=False):
    market: str  # Against `marketPrice`.


class _TransactionsDataMovements(TypedDict):
    token: str  # Its address; of one that is not counted in units `address/id`.
    rawAmount: str | None  # In the smallest unit. null: the native coin may have moved, and neither the receipt nor a balance told how much.


@final
class TransactionsDataMovements(_TransactionsDataMovements, total=False):
    symbol: str  # Absent of a token that is on no list.
    amount: str  # Above 0 it came, below 0 it left. Absent of a token that is on no list.


class _TransactionsDataOrdersFills(TypedDict):
    tradeId: str
    price: str  # Quote per one base.
    amount: str  # In base.
    fee: str  # In `feeToken`; below 0 where the exchange paid.
    feeToken: str
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class TransactionsDataOrdersFills(_TransactionsDataOrdersFills, total=False):
    txHash: str


class _TransactionsDataOrders(TypedDict):
    clientOrderId: str
    market: str
    side: Literal["BUY", "SELL"]
    price: str  # The limit; of a MARKET order the worst price.
    amount: str  # In base, as ordered.
    fills: list[TransactionsDataOrdersFills]  # Oldest first, the newest 1,000: as far as they are known. They are learnt from the exchange by and by.


@final
class TransactionsDataOrders(_TransactionsDataOrders, total=False):
    orderId: str
    state: str  # As the exchange reported it last.
    filledAmount: str  # In base, as the exchange reported it last.
    averagePrice: str


@final
class TransactionsDataDelivery(TypedDict):
    lost: float  # Answers that did not reach their caller, or did not say what became of it.
    joined: float  # Equal requests that took the place of one whose answer was lost: they were not done again.
    state: Literal["open", "lost", "delivered", "uncollected"]  # open: a request waits for the answer. lost: an equal request would get it. uncollected: nobody asked again in time.


class _TransactionsData(TypedDict):
    id: str  # Of its row in the store, for ever. Ids sort by the time of the request, and one is a `cursor`: that of what is older.
    chain: str
    network: str
    address: str
    kind: str  # trade, liquidity, position (perpetual), collateral, order, order-cancel, funds (of an order book), token-account, approve, wrap (and unwrap), send, cancel, or fill: one of the server’s own that fills a nonce gap.
    txHash: str | None  # The mined one, or the newest. null before it is signed.
    nonce: float
    txState: str  # QUEUED, SIGNED, BROADCAST, MINED, CONFIRMED, REVERTED, REPLACED, CANCELLED, DROPPED, OVERTAKEN or EXPIRED. Later versions may add others: `final` says whether it is over.
    final: bool  # It never changes again.
    txStatus: float  # As in /network/poll, by what the journal knows.
    txBlock: float  # -1 until mined.
    attempts: list[TransactionsDataAttempts]  # Everything that was signed for it on its nonce: at most one of them is ever mined. Times in milliseconds since the Unix epoch.
    requestId: str
    createdAt: float  # Milliseconds since the Unix epoch.
    updatedAt: float  # Milliseconds since the Unix epoch.


@final
class TransactionsData(_TransactionsData, total=False):
    client: str  # Who asked for it: the key of its entry in conf/clients.yml. `sluice` is the server itself.
    connector: str
    signer: str  # Only of signed actions, which an exchange takes instead of transactions: the address whose key signed, the wallet’s own or an agent’s.
    replacedBy: str  # Hash of the transaction that replaces, or replaced, it.
    reason: str  # Why it was dropped, why the chain reverted it, or a node's last objection.
    idempotencyKey: str
    deadline: float  # Seconds since the Unix epoch. The chain refuses the trade after it.
    privateOnly: bool  # true: it goes to private relays only, and so does what replaces it.
    permits: list[TransactionsDataPermits]  # The rights that the wallet signed for it (`signedPermits`): the spender may take the amount of the token by Permit2.
    request: TransactionsDataRequest  # What was asked for, in its own words. Absent of what the server does by itself, and of what an earlier version made.
    planned: Any  # What its answer said that it does, without gas, nonce and hashes: of a trade `expectedAmount`, `price` and `limitPrice`, the worst price that the chain accepts. Of a plan with several transactions the last one has it.
    quote: TransactionsDataQuote  # Of a trade: what it was quoted by.
    simulated: list[TransactionsDataSimulated]  # What the whole plan would do to its wallet, by its simulation before it was signed: of connectors that are not built in. A contract may have done something else: `movements` has what it did.
    fill: TransactionsDataFill1 | TransactionsDataFill2 | TransactionsDataFill3 | TransactionsDataFill4
    cost: TransactionsDataCost  # What it cost, by its receipt, also where it failed. Once it is final.
    slippage: TransactionsDataSlippage  # Of a trade that is final: how much worse the price of its fill is, as a fraction. Below 0 it is better.
    movements: list[TransactionsDataMovements]  # What a final transaction moved into and out of its wallet, to the unit, by its receipt: without the fee, which is in `cost`. Absent on the own rail of an exchange, and of what an earlier version made final.
    orders: list[TransactionsDataOrders]  # Of an order: what was placed, and what was filled of it since. Only of transactions that are mined, or actions that the exchange has answered; not in /events.
    delivery: TransactionsDataDelivery  # Of a request without an Idempotency-Key by another interface, of which an answer was lost. Absent where none was.
    archived: bool  # true: it ended long ago and left the journal. This is its outcome; the archive has all of it.


class TransactionsEvent(NamedTuple):
    topic: Literal["transactions"]
    id: str
    data: TransactionsData


class _BlocksData(TypedDict):
    chain: str
    network: str
    number: float
    timestamp: float  # The block's own, seconds since the Unix epoch.


@final
class BlocksData(_BlocksData, total=False):
    hash: str


class BlocksEvent(NamedTuple):
    topic: Literal["blocks"]
    id: str
    data: BlocksData


@final
class OrderBookDataBuys(TypedDict):
    price: str
    quantity: str


@final
class OrderBookDataSells(TypedDict):
    price: str
    quantity: str


class _OrderBookData(TypedDict):
    chain: str
    network: str
    connector: str
    type: Literal["CLOB", "MARGIN_CLOB", "PERP_CLOB"]
    market: str
    buys: list[OrderBookDataBuys]  # Best first.
    sells: list[OrderBookDataSells]  # Best first.
    timestamp: float  # Milliseconds since the Unix epoch.


@final
class OrderBookData(_OrderBookData, total=False):
    sequence: float  # Increases with every change of this book.
    blockNumber: float  # The block that the book is of, if it is on chain.
    stale: bool  # true: no book may be shown now. An event follows when there is one again.


class OrderBookEvent(NamedTuple):
    topic: Literal["orderBook"]
    id: str
    data: OrderBookData


class _PriceDataRoute(TypedDict):
    pool: str
    version: str
    tokenIn: str
    tokenOut: str


@final
class PriceDataRoute(_PriceDataRoute, total=False):
    fee: str  # Fraction of the input.
    share: str  # Fraction of the exact amount that takes this path, in hundredths, if the swap is split. The hops of one path come after those of the previous; each path begins with the input token. The last path takes the remainder of rounding.


@final
class PriceDataError(TypedDict):
    errorCode: float
    name: str
    message: str


class _PriceData(TypedDict):
    asked: str  # The price as it was requested: BASE:QUOTE:SIDE:AMOUNT.
    chain: str
    network: str
    connector: str  # Whose price it is. `any` where all were asked and none has one.
    base: str  # Token address; the zero address for the native coin.
    quote: str  # Token address; the zero address for the native coin.
    side: Literal["BUY", "SELL"]  # BUY or SELL of the base token, in any letter case.
    amount: str  # Of the base token.
    timestamp: float  # Milliseconds since the Unix epoch: of the block, or of the server's clock if there is no price.


@final
class PriceData(_PriceData, total=False):
    version: str
    price: str  # Quote per one base; rounded up for BUY and down for SELL.
    expectedAmount: str  # Quote tokens to pay (BUY) or to receive (SELL).
    gasCostInQuote: str  # With `any`: the cost of gas in the quote token, as the price of a swap has it.
    route: list[PriceDataRoute]
    blockNumber: float  # The block since which the price holds. It holds until the next event.
    source: Literal["memory"]
    stale: bool  # true: the price is unknown now. An event follows when there is a price again.
    error: PriceDataError  # Why the exchange gives no price. An event follows when it gives one.


class PriceEvent(NamedTuple):
    topic: Literal["price"]
    id: str
    data: PriceData


@final
class PositionsDataPositions1(TypedDict):
    market: str
    positionAmt: str  # Size in base, without sign; "0" without a position.
    positionSide: Literal["LONG", "SHORT"]
    unrealizedProfit: str  # In quote, at the mark price; below 0 is a loss.
    leverage: str  # The position's value divided by the account's value, or by its smallest unit if that is 0 or less.
    entryPrice: str  # Quote per one base.
    markPrice: str  # Quote per one base.
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.
    tickerSymbol: str  # ETHUSD
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.
    marginMode: Literal["cross", "isolated"]


class _PositionsDataPositions2(TypedDict):
    positionAmt: str  # Size in base, without sign; "0" without a position.
    positionSide: Literal["LONG", "SHORT"]
    unrealizedProfit: str  # In quote, at the mark price; below 0 is a loss.
    entryPrice: str  # Quote per one base.
    markPrice: str  # Quote per one base.
    tickerSymbol: str  # ETHUSD
    pendingFundingPayment: str  # In quote; above 0 if the wallet receives it.


@final
class PositionsDataPositions2(_PositionsDataPositions2, total=False):
    leverage: str  # The position's value divided by the account's value, or by its smallest unit if that is 0 or less.
    liquidationPrice: str  # The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.


class _PositionsDataPositions3(TypedDict):
    tokenId: str
    version: str  # Version of the exchange.
    token0: str  # Address, in the pool's order; the zero address for the native coin.
    token1: str  # Address, in the pool's order.
    fee: float  # Hundredths of a basis point.
    lowerPrice: str  # Token1 per token0.
    upperPrice: str  # Token1 per token0.
    amount0: str  # What removing all of it returns at this price.
    amount1: str  # What removing all of it returns at this price.
    unclaimedToken0: str  # Fees earned and not collected, at this block.
    unclaimedToken1: str  # Fees earned and not collected, at this block.
    liquidity: str  # An integer.
    inRange: bool
    poolPrice: str  # Token1 per token0.
    pool: str
    owner: str


@final
class PositionsDataPositions3(_PositionsDataPositions3, total=False):
    tickLower: float  # The bounds as ticks, where they are ticks.
    tickUpper: float


class _PositionsDataUnavailable(TypedDict):
    reason: str


@final
class PositionsDataUnavailable(_PositionsDataUnavailable, total=False):
    tokenId: str  # Absent: all positions of the version.
    version: str  # Version of the exchange.


@final
class PositionsDataError(TypedDict):
    errorCode: float
    name: str
    message: str


class _PositionsData(TypedDict):
    chain: str
    network: str
    connector: str
    address: str
    timestamp: float  # When the exchange was asked, in milliseconds since the Unix epoch.


@final
class PositionsData(_PositionsData, total=False):
    positions: list[PositionsDataPositions1 | PositionsDataPositions2 | PositionsDataPositions3]  # All positions of the wallet there, each as its endpoint shows it.
    unavailable: list[PositionsDataUnavailable]  # What is missing in this answer, and why. Absent: nothing is missing.
    searchedFromBlock: float  # Where a version has no list of a wallet's positions: the first block that was searched for them. Absent: nothing had to be searched.
    notSearched: str  # Why blocks could not be searched: those that are known are shown.
    missing: float  # How many more positions the wallet has: older than the search, and unknown to this server. Ask for them by their tokenId.
    blockNumber: float  # The block that they are of, if they are on chain.
    stale: bool  # true: the positions are unknown now. An event follows when they are known again.
    error: PositionsDataError  # Why the exchange gives no positions. An event follows when it does.


class PositionsEvent(NamedTuple):
    topic: Literal["positions"]
    id: str
    data: PositionsData


@final
class PluginsDataPluginsAvailable_networks(TypedDict):
    chain: str
    networks: list[str]


class _PluginsDataPluginsEarlier(TypedDict):
    version: str


@final
class PluginsDataPluginsEarlier(_PluginsDataPluginsEarlier, total=False):
    sha256: str


class _PluginsDataPluginsQuarantineLost(TypedDict):
    token: str  # Its address; the zero address for the native coin.
    amount: str  # A decimal string; in smallest units where the symbol is missing, since the decimals are not known.
    how: Literal["taken"] | Literal["not brought"]  # taken: it left the wallet beyond what the plan was allowed to take. not brought: so much of what it had to bring is missing.


@final
class PluginsDataPluginsQuarantineLost(_PluginsDataPluginsQuarantineLost, total=False):
    symbol: str


class _PluginsDataPluginsQuarantine(TypedDict):
    since: float  # Milliseconds since the Unix epoch.
    chain: str
    network: str
    lost: list[PluginsDataPluginsQuarantineLost]  # By the first of these transactions.
    breaches: int  # How many transactions did so since it was last lifted.


@final
class PluginsDataPluginsQuarantine(_PluginsDataPluginsQuarantine, total=False):
    txHash: str  # The first of them. Only for who may use its wallet, and not in events.
    address: str  # The wallet. Only for who may use it, and not in events.


@final
class PluginsDataPluginsHost(TypedDict):
    deaths: int  # How often it has ended since the server started.


class _PluginsDataPlugins(TypedDict):
    name: str
    kind: Literal["chain"] | Literal["connector"] | Literal["interface"] | Literal["unknown"]
    version: str  # Its own word: in quotes where it is more than letters, digits and signs of versions.
    trading_type: list[str]
    available_networks: list[PluginsDataPluginsAvailable_networks]
    state: Literal["loaded"] | Literal["refused"] | Literal["pending"] | Literal["leaving"]  # pending: its process is started after the server is ready; then it is loaded or refused. leaving: it was removed or is being replaced; it takes no request any more, and reads what its open transactions bring.


@final
class PluginsDataPlugins(_PluginsDataPlugins, total=False):
    tier: Literal["built in"] | Literal["trusted"] | Literal["contained"] | Literal["data"]  # Of a loaded plugin: of this release, of a third party that the operator trusts, of any other, or data alone, without code.
    allowedBy: Literal["release"] | Literal["operator"] | Literal["nobody"]  # Who allowed it to run: the release, the operator in sluice.lock, or nobody, where a server only tries.
    sha256: str  # The hash of its files, where the operator allowed it.
    reason: str  # Why it was refused, and what to do about it.
    notTakenUp: str  # Why a change of it in sluice.lock is not in force, or its contracts are not on the devnet, and what to do about it. What ran before goes on.
    earlier: list[PluginsDataPluginsEarlier]  # Never given any more: no earlier version runs beside another one.
    deprecated: list[str]  # What it, or conf for it, still has of an earlier interface, and what to use instead.
    quarantine: PluginsDataPluginsQuarantine  # Nothing is signed for it: a mined transaction of it took more from a wallet, or brought less, than its plan was allowed. An operator lifts it.
    starting: list[str]  # Those of its networks that are not ready yet.
    host: PluginsDataPluginsHost  # The contained process that it runs in; absent where it runs in the server.


@final
class PluginsData(TypedDict):
    plugins: list[PluginsDataPlugins]  # Those of third parties, each as /plugins shows it. Again when one of them changed.


class PluginsEvent(NamedTuple):
    topic: Literal["plugins"]
    id: str
    data: PluginsData


class _StopsDataStops(TypedDict):
    mode: Literal["stop"] | Literal["reduce-only"]  # stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.
    of: Literal["all"] | Literal["wallet"] | Literal["client"]
    setBy: str  # The id of the client that set it.
    since: float  # Milliseconds since the Unix epoch.


@final
class StopsDataStops(_StopsDataStops, total=False):
    address: str  # Of a wallet.
    client: str  # The id of a client: the key of its entry in conf/clients.yml.
    reason: str
    file: str  # The file in the data folder of this server that says it. It is not in the store.


class _StopsDataLifted(TypedDict):
    mode: Literal["stop"] | Literal["reduce-only"]  # stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.
    of: Literal["all"] | Literal["wallet"] | Literal["client"]
    setBy: str  # The id of the client that set it.
    since: float  # Milliseconds since the Unix epoch.
    liftedBy: str  # The id of the client that lifted it.
    liftedAt: float  # Milliseconds since the Unix epoch.


@final
class StopsDataLifted(_StopsDataLifted, total=False):
    address: str  # Of a wallet.
    client: str  # The id of a client: the key of its entry in conf/clients.yml.
    reason: str
    file: str  # The file in the data folder of this server that says it. It is not in the store.


@final
class StopsData(TypedDict):
    stops: list[StopsDataStops]  # Those in force, as /stops shows them. Again when one is set or lifted, by whichever server.
    lifted: list[StopsDataLifted]  # The last 20 that were lifted, newest first. Those of files are not among them.


class StopsEvent(NamedTuple):
    topic: Literal["stops"]
    id: str
    data: StopsData


class _ApprovalsDataWaitingEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsDataWaitingEffectGives(_ApprovalsDataWaitingEffectGives, total=False):
    symbol: str


class _ApprovalsDataWaitingEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsDataWaitingEffectGets(_ApprovalsDataWaitingEffectGets, total=False):
    symbol: str


@final
class ApprovalsDataWaitingEffect(TypedDict, total=False):
    gives: list[ApprovalsDataWaitingEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsDataWaitingEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsDataWaitingRefusal(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsDataWaitingRefusal(_ApprovalsDataWaitingRefusal, total=False):
    details: Any


class _ApprovalsDataWaiting(TypedDict):
    id: int
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.
    client: str  # Who asked.
    path: str  # Of its endpoint.
    address: str  # Its wallet.
    request: dict[str, Any]  # Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.
    effect: ApprovalsDataWaitingEffect  # What it did when it began to wait.
    madeAt: float  # Milliseconds since the Unix epoch.
    expiresAt: float  # Milliseconds since the Unix epoch.
    requestId: str  # Its transactions have it, too: `GET /transactions?requestId=…`.
    idempotencyKey: str  # Its own, or the one that the server made for it.


@final
class ApprovalsDataWaiting(_ApprovalsDataWaiting, total=False):
    revoked: bool  # In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.
    decidedBy: str  # The client that approved, denied or withdrew it.
    decidedAt: float  # Milliseconds since the Unix epoch.
    answer: dict[str, Any]  # Of a request that is done: what its endpoint answered.
    refusal: ApprovalsDataWaitingRefusal  # Of one that is refused: the error that its Idempotency-Key gets.


class _ApprovalsDataEndedEffectGives(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsDataEndedEffectGives(_ApprovalsDataEndedEffectGives, total=False):
    symbol: str


class _ApprovalsDataEndedEffectGets(TypedDict):
    token: str  # Its address, or the symbol by which an exchange names it.
    amount: str  # A decimal string; in smallest units where the symbol is missing.


@final
class ApprovalsDataEndedEffectGets(_ApprovalsDataEndedEffectGets, total=False):
    symbol: str


@final
class ApprovalsDataEndedEffect(TypedDict, total=False):
    gives: list[ApprovalsDataEndedEffectGives]  # Leaves the wallet at most, without fees.
    gets: list[ApprovalsDataEndedEffectGets]  # Comes at least.
    valueGiven: str  # What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.
    valueLost: str  # What it loses at most against the market, in the reference token. Absent: no market tells.
    maxFee: str  # Of all its transactions at most, by the simulation; in the coin of the network.
    feeToken: str
    answer: dict[str, Any]  # What its endpoint would answer, without hash and nonce.


class _ApprovalsDataEndedRefusal(TypedDict):
    errorCode: float
    name: str
    message: str
    httpErrorCode: float


@final
class ApprovalsDataEndedRefusal(_ApprovalsDataEndedRefusal, total=False):
    details: Any


class _ApprovalsDataEnded(TypedDict):
    id: int
    state: Literal["waiting", "approved", "done", "refused", "denied", "withdrawn", "expired"]  # waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.
    client: str  # Who asked.
    path: str  # Of its endpoint.
    address: str  # Its wallet.
    request: dict[str, Any]  # Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.
    effect: ApprovalsDataEndedEffect  # What it did when it began to wait.
    madeAt: float  # Milliseconds since the Unix epoch.
    expiresAt: float  # Milliseconds since the Unix epoch.
    requestId: str  # Its transactions have it, too: `GET /transactions?requestId=…`.
    idempotencyKey: str  # Its own, or the one that the server made for it.


@final
class ApprovalsDataEnded(_ApprovalsDataEnded, total=False):
    revoked: bool  # In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.
    decidedBy: str  # The client that approved, denied or withdrew it.
    decidedAt: float  # Milliseconds since the Unix epoch.
    answer: dict[str, Any]  # Of a request that is done: what its endpoint answered.
    refusal: ApprovalsDataEndedRefusal  # Of one that is refused: the error that its Idempotency-Key gets.


@final
class ApprovalsData(TypedDict):
    waiting: list[ApprovalsDataWaiting]  # Those that wait for a second person, or are being carried out, as /approvals shows them, newest first. Again when one begins to wait or ends, on whichever server.
    ended: list[ApprovalsDataEnded]  # The last 20 that do not wait any more, newest first.


class ApprovalsEvent(NamedTuple):
    topic: Literal["approvals"]
    id: str
    data: ApprovalsData


@final
class DeliveriesDataDeliveries(TypedDict):
    idempotencyKey: str  # Finds its transaction in /transactions.
    interface: str
    client: str
    lost: float  # Answers that did not reach their caller, or did not say what became of it.
    joined: float  # Equal requests that took the place of one whose answer was lost: they were not done again.
    state: Literal["open", "lost", "delivered", "uncollected"]  # open: a request waits for the answer. lost: an equal request would get it. uncollected: nobody asked again in time.
    askedAt: float  # When it was asked for last, in milliseconds since the Unix epoch.


@final
class DeliveriesData(TypedDict):
    deliveries: list[DeliveriesDataDeliveries]  # Requests without an Idempotency-Key by another interface, of which an answer was lost: the last 20, newest first. Again when one is lost, is given to an equal request, or stays uncollected, on whichever server.


class DeliveriesEvent(NamedTuple):
    topic: Literal["deliveries"]
    id: str
    data: DeliveriesData


@final
class ReadyData(TypedDict):
    topics: list[str]


class ReadyEvent(NamedTuple):
    topic: Literal["ready"]
    id: str
    data: ReadyData


Event = Union[TransactionsEvent, BlocksEvent, OrderBookEvent, PriceEvent, PositionsEvent, PluginsEvent, StopsEvent, ApprovalsEvent, DeliveriesEvent, ReadyEvent]


EVENTS: dict[str, type[Any]] = {"transactions": TransactionsEvent, "blocks": BlocksEvent, "orderBook": OrderBookEvent, "price": PriceEvent, "positions": PositionsEvent, "plugins": PluginsEvent, "stops": StopsEvent, "approvals": ApprovalsEvent, "deliveries": DeliveriesEvent, "ready": ReadyEvent}


class Endpoints(ABC):
    """A method for each HTTP method, with the types of each path."""

    @abstractmethod
    def _call(self, method: str, path: str, request: Mapping[str, object] | None, key: str | None, timeout: float | None) -> Any:
        """Gives the answer of the server, or raises SluiceError."""

    @overload
    def get(self, path: Literal["/"], request: StatusRequest = ..., *, timeout: float | None = ...) -> StatusResponse:
        """The server answers."""
        ...

    @overload
    def get(self, path: Literal["/connectors"], request: ConnectorsRequest = ..., *, timeout: float | None = ...) -> ConnectorsResponse:
        """The registered connectors and the networks that each serves."""
        ...

    @overload
    def get(self, path: Literal["/plugins"], request: PluginsRequest = ..., *, timeout: float | None = ...) -> PluginsResponse:
        """The plugins that were loaded, those that were refused, with the reason, and those that are still being started."""
        ...

    @overload
    def get(self, path: Literal["/limits"], request: LimitsRequest = ..., *, timeout: float | None = ...) -> LimitsResponse:
        """What a client may spend by its limits, and what is left."""
        ...

    @overload
    def get(self, path: Literal["/limits/check"], request: LimitsCheckRequest = ..., *, timeout: float | None = ...) -> LimitsCheckResponse:
        """What the transactions of the last days would have hit, had the limits that the client has now held."""
        ...

    @overload
    def get(self, path: Literal["/stops"], request: StopsRequest = ..., *, timeout: float | None = ...) -> StopsResponse:
        """What is stopped: for all, for wallets that the caller may use, and for the caller. With stop, resume or admin all of it."""
        ...

    @overload
    def get(self, path: Literal["/health/live"], request: HealthLiveRequest = ..., *, timeout: float | None = ...) -> HealthLiveResponse:
        """The process is alive."""
        ...

    @overload
    def get(self, path: Literal["/health/ready"], request: HealthReadyRequest = ..., *, timeout: float | None = ...) -> HealthReadyResponse:
        """The listener, the wallets and every required network are ready; 503 names the failing part."""
        ...

    @overload
    def get(self, path: Literal["/wallet"], request: WalletRequest = ..., *, timeout: float | None = ...) -> WalletResponse:
        """The addresses that the caller may use."""
        ...

    @overload
    def get(self, path: Literal["/caller"], request: CallerRequest = ..., *, timeout: float | None = ...) -> CallerResponse:
        """Who the caller is, by its certificate, and what it may do."""
        ...

    @overload
    def get(self, path: Literal["/alerts"], request: AlertsRequest = ..., *, timeout: float | None = ...) -> AlertsResponse:
        """What people are told of by conf/alerts.yml, what is silenced, and whether messages reach their channels."""
        ...

    @overload
    def get(self, path: Literal["/approvals"], request: ApprovalsRequest = ..., *, timeout: float | None = ...) -> ApprovalsResponse:
        """The caller's requests that wait, or waited, for a second person. With approve or admin those of others, too, for its wallets."""
        ...

    @overload
    def get(self, path: Literal["/approvals/preview"], request: ApprovalsPreviewRequest, *, timeout: float | None = ...) -> ApprovalsPreviewResponse:
        """What a request that waits would do now: planned anew and simulated at the node. Nothing is signed."""
        ...

    @overload
    def get(self, path: Literal["/transactions"], request: TransactionsRequest = ..., *, timeout: float | None = ...) -> TransactionsResponse:
        """The journal of the caller's wallets, newest first."""
        ...

    @overload
    def get(self, path: Literal["/books"], request: BooksRequest = ..., *, timeout: float | None = ...) -> BooksResponse:
        """What the transactions of the caller's wallets moved, earned and cost."""
        ...

    @overload
    def get(self, path: Literal["/ledger"], request: LedgerRequest = ..., *, timeout: float | None = ...) -> LedgerResponse:
        """Each change of a balance by a final transaction of the caller's wallets: the sum of a wallet and token is the change of its balance."""
        ...

    @overload
    def get(self, path: Literal["/network/status"], request: NetworkStatusRequest = ..., *, timeout: float | None = ...) -> NetworkStatusResponse:
        """The newest block of every network. A network that is down keeps its entry."""
        ...

    @overload
    def get(self, path: Literal["/network/chain_config"], request: NetworkChainConfigRequest, *, timeout: float | None = ...) -> NetworkChainConfigResponse:
        """The chain's configuration that is in force, defaults included, secrets masked."""
        ...

    @overload
    def get(self, path: Literal["/network/tokens"], request: NetworkTokensRequest, *, timeout: float | None = ...) -> NetworkTokensResponse:
        """The network's tokens."""
        ...

    @overload
    def get(self, path: Literal["/network/token"], request: NetworkTokenRequest, *, timeout: float | None = ...) -> NetworkTokenResponse:
        """A token by its address, and what is odd about it."""
        ...

    @overload
    def get(self, path: Literal["/network/balances"], request: NetworkBalancesRequest, *, timeout: float | None = ...) -> NetworkBalancesResponse:
        """A wallet's balances, in one round trip."""
        ...

    @overload
    def get(self, path: Literal["/network/poll"], request: NetworkPollRequest, *, timeout: float | None = ...) -> NetworkPollResponse:
        """The status of a transaction, and its fill."""
        ...

    @overload
    def get(self, path: Literal["/evm/allowances"], request: EVMAllowancesRequest, *, timeout: float | None = ...) -> EVMAllowancesResponse:
        """A spender's allowances of a wallet, in one round trip."""
        ...

    @overload
    def get(self, path: Literal["/evm/nonce"], request: EVMNonceRequest, *, timeout: float | None = ...) -> EVMNonceResponse:
        """The next nonce that the server would assign."""
        ...

    @overload
    def get(self, path: Literal["/evm/gas"], request: EVMGasRequest, *, timeout: float | None = ...) -> EVMGasResponse:
        """What to pay for gas to be slow, normal or fast, by the last 20 blocks."""
        ...

    @overload
    def get(self, path: Literal["/connector/config"], request: ConnectorConfigRequest, *, timeout: float | None = ...) -> ConnectorConfigResponse:
        """The connector's configuration and effective settings, secrets masked."""
        ...

    @overload
    def get(self, path: Literal["/amm/price"], request: AMMPriceRequest, *, timeout: float | None = ...) -> AMMPriceResponse:
        """The price of a swap at the latest block."""
        ...

    @overload
    def get(self, path: Literal["/amm/pools"], request: AMMPoolsRequest, *, timeout: float | None = ...) -> AMMPoolsResponse:
        """The pools of a pair, or of a token, with their price, fee and depth."""
        ...

    @overload
    def get(self, path: Literal["/amm/pool"], request: AMMPoolRequest, *, timeout: float | None = ...) -> AMMPoolResponse:
        """One pool of a connector, by its address."""
        ...

    @overload
    def get(self, path: Literal["/amm/liquidity/positions"], request: AMMLiquidityPositionsRequest, *, timeout: float | None = ...) -> AMMLiquidityPositionsResponse:
        """A wallet's positions, of all versions of the exchange."""
        ...

    @overload
    def get(self, path: Literal["/amm/liquidity/refused"], request: AMMLiquidityRefusedRequest = ..., *, timeout: float | None = ...) -> AMMLiquidityRefusedResponse:
        """Positions whose clients were refused what they asked of them by another interface: to know of them and were not told since, or to close them."""
        ...

    @overload
    def get(self, path: Literal["/amm/shares/position"], request: AMMSharesPositionRequest, *, timeout: float | None = ...) -> AMMSharesPositionResponse:
        """A wallet's shares of a pool, what they are shares of and what that is worth."""
        ...

    @overload
    def get(self, path: Literal["/portfolio"], request: PortfolioRequest = ..., *, timeout: float | None = ...) -> PortfolioResponse:
        """What wallets have, owe and have allowed, over all networks that run: with values, and for how long gas lasts."""
        ...

    @overload
    def get(self, path: Literal["/allowances"], request: AllowancesRequest = ..., *, timeout: float | None = ...) -> AllowancesResponse:
        """What spenders may take of wallets now, over all networks that run, and what each could cost."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/price"], request: PerpAMMPriceRequest, *, timeout: float | None = ...) -> PerpAMMPriceResponse:
        """The price of opening a position, by the exchange's own calculation."""
        ...

    @overload
    def get(self, path: Literal["/perp/price"], request: PerpPriceRequest, *, timeout: float | None = ...) -> PerpPriceResponse:
        """The price of opening a position, by the exchange's own calculation."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/position"], request: PerpAMMPositionRequest, *, timeout: float | None = ...) -> PerpAMMPositionResponse:
        """A wallet's position in a market."""
        ...

    @overload
    def get(self, path: Literal["/perp/position"], request: PerpPositionRequest, *, timeout: float | None = ...) -> PerpPositionResponse:
        """A wallet's position in a market."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/margin"], request: PerpAMMMarginRequest, *, timeout: float | None = ...) -> PerpAMMMarginResponse:
        """The value of a wallet's account, and the margin that it requires."""
        ...

    @overload
    def get(self, path: Literal["/perp/margin"], request: PerpMarginRequest, *, timeout: float | None = ...) -> PerpMarginResponse:
        """The value of a wallet's account, and the margin that it requires."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/funding"], request: PerpAMMFundingRequest, *, timeout: float | None = ...) -> PerpAMMFundingResponse:
        """Funding of the markets in which a wallet has positions."""
        ...

    @overload
    def get(self, path: Literal["/perp/funding"], request: PerpFundingRequest, *, timeout: float | None = ...) -> PerpFundingResponse:
        """Funding of the markets in which a wallet has positions."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/market-prices"], request: PerpAMMMarketPricesRequest, *, timeout: float | None = ...) -> PerpAMMMarketPricesResponse:
        """Mark price, index price and its mean."""
        ...

    @overload
    def get(self, path: Literal["/perp/market-prices"], request: PerpMarketPricesRequest, *, timeout: float | None = ...) -> PerpMarketPricesResponse:
        """Mark price, index price and its mean."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/market-status"], request: PerpAMMMarketStatusRequest, *, timeout: float | None = ...) -> PerpAMMMarketStatusResponse:
        """Whether a market accepts positions."""
        ...

    @overload
    def get(self, path: Literal["/perp/market-status"], request: PerpMarketStatusRequest, *, timeout: float | None = ...) -> PerpMarketStatusResponse:
        """Whether a market accepts positions."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/pairs"], request: PerpAMMPairsRequest, *, timeout: float | None = ...) -> PerpAMMPairsResponse:
        """All markets."""
        ...

    @overload
    def get(self, path: Literal["/perp/pairs"], request: PerpPairsRequest, *, timeout: float | None = ...) -> PerpPairsResponse:
        """All markets."""
        ...

    @overload
    def get(self, path: Literal["/perpAMM/balance"], request: PerpAMMBalanceRequest, *, timeout: float | None = ...) -> PerpAMMBalanceResponse:
        """A wallet's collateral in the exchange."""
        ...

    @overload
    def get(self, path: Literal["/perp/balance"], request: PerpBalanceRequest, *, timeout: float | None = ...) -> PerpBalanceResponse:
        """A wallet's collateral in the exchange."""
        ...

    @overload
    def get(self, path: Literal["/clob/markets"], request: CLOBMarketsRequest, *, timeout: float | None = ...) -> CLOBMarketsResponse:
        """The markets, and the orders that they accept."""
        ...

    @overload
    def get(self, path: Literal["/clob/ticker"], request: CLOBTickerRequest, *, timeout: float | None = ...) -> CLOBTickerResponse:
        """Best prices and the last one, from memory."""
        ...

    @overload
    def get(self, path: Literal["/clob/orderBook"], request: CLOBOrderBookRequest, *, timeout: float | None = ...) -> CLOBOrderBookResponse:
        """The book, from memory."""
        ...

    @overload
    def get(self, path: Literal["/clob/orders"], request: CLOBOrdersRequest, *, timeout: float | None = ...) -> CLOBOrdersResponse:
        """A wallet's orders, newest first: those that this server placed and those that the exchange has."""
        ...

    @overload
    def get(self, path: Literal["/clob/trades"], request: CLOBTradesRequest, *, timeout: float | None = ...) -> CLOBTradesResponse:
        """A market's trades, or a wallet's in it, newest first."""
        ...

    @overload
    def get(self, path: Literal["/clob/balances"], request: CLOBBalancesRequest, *, timeout: float | None = ...) -> CLOBBalancesResponse:
        """A wallet's balances in the exchange."""
        ...

    @overload
    def get(self, path: Literal["/clob/estimateGas"], request: CLOBEstimateGasRequest, *, timeout: float | None = ...) -> CLOBEstimateGasResponse:
        """The gas cost of a typical order."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/markets"], request: CLOBMarginMarketsRequest, *, timeout: float | None = ...) -> CLOBMarginMarketsResponse:
        """The markets, and the orders that they accept."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/ticker"], request: CLOBMarginTickerRequest, *, timeout: float | None = ...) -> CLOBMarginTickerResponse:
        """Best prices and the last one, from memory."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/orderBook"], request: CLOBMarginOrderBookRequest, *, timeout: float | None = ...) -> CLOBMarginOrderBookResponse:
        """The book, from memory."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/orders"], request: CLOBMarginOrdersRequest, *, timeout: float | None = ...) -> CLOBMarginOrdersResponse:
        """A wallet's orders, newest first: those that this server placed and those that the exchange has."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/trades"], request: CLOBMarginTradesRequest, *, timeout: float | None = ...) -> CLOBMarginTradesResponse:
        """A market's trades, or a wallet's in it, newest first."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/balances"], request: CLOBMarginBalancesRequest, *, timeout: float | None = ...) -> CLOBMarginBalancesResponse:
        """A wallet's balances in the exchange."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/estimateGas"], request: CLOBMarginEstimateGasRequest, *, timeout: float | None = ...) -> CLOBMarginEstimateGasResponse:
        """The gas cost of a typical order."""
        ...

    @overload
    def get(self, path: Literal["/clob/margin/account"], request: CLOBMarginAccountRequest, *, timeout: float | None = ...) -> CLOBMarginAccountResponse:
        """The value and the debt of a margin account, and the margin that it requires."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/markets"], request: CLOBPerpMarketsRequest, *, timeout: float | None = ...) -> CLOBPerpMarketsResponse:
        """The markets, and the orders that they accept."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/ticker"], request: CLOBPerpTickerRequest, *, timeout: float | None = ...) -> CLOBPerpTickerResponse:
        """Best prices and the last one, from memory."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/orderBook"], request: CLOBPerpOrderBookRequest, *, timeout: float | None = ...) -> CLOBPerpOrderBookResponse:
        """The book, from memory."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/orders"], request: CLOBPerpOrdersRequest, *, timeout: float | None = ...) -> CLOBPerpOrdersResponse:
        """A wallet's orders, newest first: those that this server placed and those that the exchange has."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/trades"], request: CLOBPerpTradesRequest, *, timeout: float | None = ...) -> CLOBPerpTradesResponse:
        """A market's trades, or a wallet's in it, newest first."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/balances"], request: CLOBPerpBalancesRequest, *, timeout: float | None = ...) -> CLOBPerpBalancesResponse:
        """A wallet's balances in the exchange."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/estimateGas"], request: CLOBPerpEstimateGasRequest, *, timeout: float | None = ...) -> CLOBPerpEstimateGasResponse:
        """The gas cost of a typical order."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/positions"], request: CLOBPerpPositionsRequest, *, timeout: float | None = ...) -> CLOBPerpPositionsResponse:
        """A wallet's positions."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/account"], request: CLOBPerpAccountRequest, *, timeout: float | None = ...) -> CLOBPerpAccountResponse:
        """The value of a wallet's account, and the margin that it requires."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/funding/info"], request: CLOBPerpFundingInfoRequest, *, timeout: float | None = ...) -> CLOBPerpFundingInfoResponse:
        """Funding rate, index price and mark price of a market."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/funding/payments"], request: CLOBPerpFundingPaymentsRequest, *, timeout: float | None = ...) -> CLOBPerpFundingPaymentsResponse:
        """Funding that a wallet paid and received, newest first."""
        ...

    @overload
    def get(self, path: Literal["/clob/perp/lastTradePrice"], request: CLOBPerpLastTradePriceRequest, *, timeout: float | None = ...) -> CLOBPerpLastTradePriceResponse:
        """The price of the last trade, from memory."""
        ...

    def get(self, path: str, request: Any = None, *, timeout: float | None = None) -> Any:
        return self._call("GET", path, request, None, timeout)

    @overload
    def post(self, path: Literal["/plugins/lift"], request: PluginsLiftRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PluginsLiftResponse:
        """Lets a quarantined plugin act again, once the operator has looked at what it did."""
        ...

    @overload
    def post(self, path: Literal["/stops"], request: StopsPostRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> StopsPostResponse:
        """Stops all, a wallet or a client: needs the permission stop, or trade for the caller’s own id. What is journaled after the answer is held by it on every server of the store."""
        ...

    @overload
    def post(self, path: Literal["/alerts/silences"], request: AlertsSilencesPostRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AlertsSilencesPostResponse:
        """Keeps people from being told of a rule, or of one thing, for a while. What lasts longer is told then."""
        ...

    @overload
    def post(self, path: Literal["/alerts/test"], request: AlertsTestRequest = ..., *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AlertsTestResponse:
        """Sends a message to channels, to see whether it arrives."""
        ...

    @overload
    def post(self, path: Literal["/approvals/approve"], request: ApprovalsApproveRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> ApprovalsApproveResponse:
        """Approves a request of another client, and carries it out: planned anew, within its own bound, with the rights and limits of its client now. An error is that of the request. A limit, the market check and the rights of its client end it for good; after other errors it waits on."""
        ...

    @overload
    def post(self, path: Literal["/approvals/deny"], request: ApprovalsDenyRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> ApprovalsDenyResponse:
        """Denies a request of another client. Nothing is signed for it."""
        ...

    @overload
    def post(self, path: Literal["/approvals/withdraw"], request: ApprovalsWithdrawRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> ApprovalsWithdrawResponse:
        """Withdraws a request of the caller's own that waits. Nothing is signed for it."""
        ...

    @overload
    def post(self, path: Literal["/transactions/prune"], request: TransactionsPruneRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> TransactionsPruneResponse:
        """Moves old transactions from the journal to the archive, about a thousand at a time. Their outcomes stay."""
        ...

    @overload
    def post(self, path: Literal["/books/verify"], request: BooksVerifyRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> BooksVerifyResponse:
        """Holds the journal of a wallet against the chain: the balances at the start and all that is known to have moved are the balances at the end, or what is unexplained is listed. A few hours' blocks at a time."""
        ...

    @overload
    def post(self, path: Literal["/network/tokens/add"], request: NetworkTokensAddRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> NetworkTokensAddResponse:
        """Adds a token to the network's list, for this server."""
        ...

    @overload
    def post(self, path: Literal["/evm/cancel"], request: EVMCancelRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> EVMCancelResponse:
        """Replaces a pending transaction by an empty one."""
        ...

    @overload
    def post(self, path: Literal["/evm/speedUp"], request: EVMSpeedUpRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> EVMSpeedUpResponse:
        """Raises the fees of a pending transaction."""
        ...

    @overload
    def post(self, path: Literal["/evm/approve"], request: EVMApproveRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> EVMApproveResponse:
        """Sets the allowance of a spender for a token."""
        ...

    @overload
    def post(self, path: Literal["/evm/revoke"], request: EVMRevokeRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> EVMRevokeResponse:
        """Takes back all that a spender may take of a token, also by Permit2, or of a collection of positions."""
        ...

    @overload
    def post(self, path: Literal["/evm/wrap"], request: EVMWrapRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> EVMWrapResponse:
        """Turns the native coin of a wallet into its wrapped form."""
        ...

    @overload
    def post(self, path: Literal["/evm/unwrap"], request: EVMUnwrapRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> EVMUnwrapResponse:
        """Turns the wrapped form back into the native coin."""
        ...

    @overload
    def post(self, path: Literal["/evm/send"], request: EVMSendRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> EVMSendResponse:
        """Sends a token or the native coin to an address that the operator lists."""
        ...

    @overload
    def post(self, path: Literal["/altchain/create-token"], request: AltchainCreateTokenRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AltchainCreateTokenResponse:
        """Creates a wallet's account for a token, if there is none."""
        ...

    @overload
    def post(self, path: Literal["/amm/trade"], request: AMMTradeRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMTradeResponse:
        """Swaps tokens; the chain enforces price limit and deadline."""
        ...

    @overload
    def post(self, path: Literal["/amm/estimateGas"], request: AMMEstimateGasRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMEstimateGasResponse:
        """The gas cost of a typical swap."""
        ...

    @overload
    def post(self, path: Literal["/amm/liquidity/add"], request: AMMLiquidityAddRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMLiquidityAddResponse:
        """Adds liquidity to a range of prices, in a new position or an existing one."""
        ...

    @overload
    def post(self, path: Literal["/amm/liquidity/quote"], request: AMMLiquidityQuoteRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMLiquidityQuoteResponse:
        """What adding to a range of prices would take; nothing is sent."""
        ...

    @overload
    def post(self, path: Literal["/amm/liquidity/remove"], request: AMMLiquidityRemoveRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMLiquidityRemoveResponse:
        """Removes liquidity and all fees from a position, in one transaction."""
        ...

    @overload
    def post(self, path: Literal["/amm/liquidity/collect_fees"], request: AMMLiquidityCollectFeesRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMLiquidityCollectFeesResponse:
        """Collects the fees of a position."""
        ...

    @overload
    def post(self, path: Literal["/amm/liquidity/price"], request: AMMLiquidityPriceRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMLiquidityPriceResponse:
        """A pool's price now, and a series of past prices from its own oracle."""
        ...

    @overload
    def post(self, path: Literal["/amm/liquidity/position"], request: AMMLiquidityPositionRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMLiquidityPositionResponse:
        """A position at the latest block, with its unclaimed fees."""
        ...

    @overload
    def post(self, path: Literal["/amm/shares/add"], request: AMMSharesAddRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMSharesAddResponse:
        """Adds liquidity to a pool, for shares of it."""
        ...

    @overload
    def post(self, path: Literal["/amm/shares/remove"], request: AMMSharesRemoveRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AMMSharesRemoveResponse:
        """Removes shares of a pool, for its tokens in the ratio of the pool."""
        ...

    @overload
    def post(self, path: Literal["/perpAMM/open"], request: PerpAMMOpenRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpAMMOpenResponse:
        """Opens, increases, reduces or reverses a position; the chain enforces price limit and deadline."""
        ...

    @overload
    def post(self, path: Literal["/perp/open"], request: PerpOpenRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpOpenResponse:
        """Opens, increases, reduces or reverses a position; the chain enforces price limit and deadline."""
        ...

    @overload
    def post(self, path: Literal["/perpAMM/close"], request: PerpAMMCloseRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpAMMCloseResponse:
        """Closes a position; the chain enforces price limit and deadline."""
        ...

    @overload
    def post(self, path: Literal["/perp/close"], request: PerpCloseRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpCloseResponse:
        """Closes a position; the chain enforces price limit and deadline."""
        ...

    @overload
    def post(self, path: Literal["/perpAMM/estimateGas"], request: PerpAMMEstimateGasRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpAMMEstimateGasResponse:
        """The gas cost of opening a position."""
        ...

    @overload
    def post(self, path: Literal["/perp/estimateGas"], request: PerpEstimateGasRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpEstimateGasResponse:
        """The gas cost of opening a position."""
        ...

    @overload
    def post(self, path: Literal["/perpAMM/deposit"], request: PerpAMMDepositRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpAMMDepositResponse:
        """Deposits collateral into the exchange."""
        ...

    @overload
    def post(self, path: Literal["/perp/deposit"], request: PerpDepositRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpDepositResponse:
        """Deposits collateral into the exchange."""
        ...

    @overload
    def post(self, path: Literal["/perpAMM/withdraw"], request: PerpAMMWithdrawRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpAMMWithdrawResponse:
        """Withdraws collateral from the exchange to the same wallet."""
        ...

    @overload
    def post(self, path: Literal["/perp/withdraw"], request: PerpWithdrawRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> PerpWithdrawResponse:
        """Withdraws collateral from the exchange to the same wallet."""
        ...

    @overload
    def post(self, path: Literal["/clob/orders"], request: CLOBOrdersPostRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBOrdersPostResponse:
        """Places an order."""
        ...

    @overload
    def post(self, path: Literal["/clob/batchOrders"], request: CLOBBatchOrdersRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBBatchOrdersResponse:
        """Cancels and places many orders, each with its own result."""
        ...

    @overload
    def post(self, path: Literal["/clob/deposit"], request: CLOBDepositRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBDepositResponse:
        """Deposits a token into the exchange."""
        ...

    @overload
    def post(self, path: Literal["/clob/withdraw"], request: CLOBWithdrawRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBWithdrawResponse:
        """Withdraws a token from the exchange to the same wallet."""
        ...

    @overload
    def post(self, path: Literal["/clob/margin/orders"], request: CLOBMarginOrdersPostRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBMarginOrdersPostResponse:
        """Places an order."""
        ...

    @overload
    def post(self, path: Literal["/clob/margin/batchOrders"], request: CLOBMarginBatchOrdersRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBMarginBatchOrdersResponse:
        """Cancels and places many orders, each with its own result."""
        ...

    @overload
    def post(self, path: Literal["/clob/margin/deposit"], request: CLOBMarginDepositRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBMarginDepositResponse:
        """Deposits a token into the exchange."""
        ...

    @overload
    def post(self, path: Literal["/clob/margin/withdraw"], request: CLOBMarginWithdrawRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBMarginWithdrawResponse:
        """Withdraws a token from the exchange to the same wallet."""
        ...

    @overload
    def post(self, path: Literal["/clob/margin/borrow"], request: CLOBMarginBorrowRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBMarginBorrowResponse:
        """Borrows a token from the exchange."""
        ...

    @overload
    def post(self, path: Literal["/clob/margin/repay"], request: CLOBMarginRepayRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBMarginRepayResponse:
        """Repays a borrowed token."""
        ...

    @overload
    def post(self, path: Literal["/clob/perp/orders"], request: CLOBPerpOrdersPostRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBPerpOrdersPostResponse:
        """Places an order."""
        ...

    @overload
    def post(self, path: Literal["/clob/perp/batchOrders"], request: CLOBPerpBatchOrdersRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBPerpBatchOrdersResponse:
        """Cancels and places many orders, each with its own result."""
        ...

    @overload
    def post(self, path: Literal["/clob/perp/deposit"], request: CLOBPerpDepositRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBPerpDepositResponse:
        """Deposits a token into the exchange."""
        ...

    @overload
    def post(self, path: Literal["/clob/perp/withdraw"], request: CLOBPerpWithdrawRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBPerpWithdrawResponse:
        """Withdraws a token from the exchange to the same wallet."""
        ...

    @overload
    def post(self, path: Literal["/clob/perp/leverage"], request: CLOBPerpLeverageRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBPerpLeverageResponse:
        """Sets the leverage of a market for a wallet."""
        ...

    def post(self, path: str, request: Any = None, *, idempotency_key: str | None = None, timeout: float | None = None) -> Any:
        return self._call("POST", path, request, idempotency_key, timeout)

    @overload
    def delete(self, path: Literal["/stops"], request: StopsDeleteRequest = ..., *, idempotency_key: str | None = ..., timeout: float | None = ...) -> StopsDeleteResponse:
        """Lifts what was stopped for all, for a wallet or for a client. Each is lifted by itself."""
        ...

    @overload
    def delete(self, path: Literal["/alerts/silences"], request: AlertsSilencesDeleteRequest = ..., *, idempotency_key: str | None = ..., timeout: float | None = ...) -> AlertsSilencesDeleteResponse:
        """Ends a silence, by the rule and subject that it was set for."""
        ...

    @overload
    def delete(self, path: Literal["/clob/orders"], request: CLOBOrdersDeleteRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBOrdersDeleteResponse:
        """Cancels an order."""
        ...

    @overload
    def delete(self, path: Literal["/clob/margin/orders"], request: CLOBMarginOrdersDeleteRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBMarginOrdersDeleteResponse:
        """Cancels an order."""
        ...

    @overload
    def delete(self, path: Literal["/clob/perp/orders"], request: CLOBPerpOrdersDeleteRequest, *, idempotency_key: str | None = ..., timeout: float | None = ...) -> CLOBPerpOrdersDeleteResponse:
        """Cancels an order."""
        ...

    def delete(self, path: str, request: Any = None, *, idempotency_key: str | None = None, timeout: float | None = None) -> Any:
        return self._call("DELETE", path, request, idempotency_key, timeout)
