/*
 * A pool of two tokens of which the product stays constant: enough of an exchange to hold a connector against, on a test chain.
 * It trusts who makes it.
 * What it is called with, and how it calls others, is the C interface of Solana's programs: anza-xyz/platform-tools, sol/types.h,
 * sol/deserialize.h and sol/cpi.h. Everything is inlined into the entrypoint, so that the plain BPF backend of clang is enough.
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

#define INLINE static inline __attribute__((always_inline))

typedef struct { u64 words[4]; } Key;
typedef struct { Key *key; u64 *lamports; u64 size; u8 *data; Key *owner; u64 rentEpoch; u8 isSigner, isWritable, isExecutable; } Account;
typedef struct { Key *key; u8 isWritable, isSigner; } Meta;
typedef struct { Key *program; Meta *metas; u64 metasLength; u8 *data; u64 size; } Instruction;
typedef struct { const void *bytes; u64 size; } Seed;
typedef struct { Seed *seeds; u64 length; } Signer;

extern u64 sol_invoke_signed_c(const Instruction *, const Account *, u64, const Signer *, u64);
extern u64 sol_create_program_address(const Seed *, u64, const Key *, Key *);
extern u64 sol_set_return_data(const void *, u64);

/* What a pool's account holds. */
typedef struct { u64 tag; Key vaults[2]; Key mints[2]; u64 feeBasisPoints; u64 bump; } Pool;

/* The part that matters here of a token account: solana-program/token, interface/src/state.rs. */
typedef struct { Key mint; Key owner; u64 amountRaw; } Token;

#define TAG 0x31306c6f6f70UL
#define MOST_ACCOUNTS 8

/* Above those of the programs that are called. */
enum { TOO_FEW_ACCOUNTS = 6000, NOT_A_POOL, NOT_ITS_ACCOUNT, NOT_SIGNED, NO_SUCH_INSTRUCTION, OVER_LIMIT, TOO_LARGE, NOTHING, BAD_FEE };

/* The heap, zeroed when the program starts: agave, program-runtime, MM_HEAP_START. The stack of plain BPF is small. */
typedef struct {
  Account accounts[MOST_ACCOUNTS];
  Account passed[4];
  Meta metas[3];
  Instruction instruction;
  struct { u8 bytes[16]; } data;
  Seed seeds[2];
  Signer signer;
  u64 amounts[2];
  Key made;
} Scratch;
#define HEAP ((Scratch *)0x300000000UL)

INLINE int same(const Key *a, const Key *b) {
  return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->words[2] == b->words[2] && a->words[3] == b->words[3];
}

/* Where the accounts are that the program is called with, and what follows them. */
INLINE u8 *readAccounts(u8 *input, u64 length) {
  u8 *at = input + 8;
  for (u64 index = 0; index < length && index < MOST_ACCOUNTS; index++) {
    Account *account = &HEAP->accounts[index];
    if (*at != 0xff) {
      *account = HEAP->accounts[*at & (MOST_ACCOUNTS - 1)];
      at += 8;
      continue;
    }
    account->isSigner = at[1];
    account->isWritable = at[2];
    account->isExecutable = at[3];
    account->key = (Key *)(at + 8);
    account->owner = (Key *)(at + 40);
    account->lamports = (u64 *)(at + 72);
    account->size = *(u64 *)(at + 80);
    account->data = at + 88;
    at += 88 + account->size + 10240;
    at = (u8 *)(((u64)at + 7) & ~7UL);
    account->rentEpoch = *(u64 *)at;
    at += 8;
  }
  return at;
}

/* a × b ÷ c, rounded down or up; ~0 where it has no 64 bits. */
INLINE u64 share(u64 a, u64 b, u64 c, int isUp) {
  u64 low = (a & 0xffffffff) * (b & 0xffffffff), cross = (a >> 32) * (b & 0xffffffff), other = (a & 0xffffffff) * (b >> 32);
  u64 middle = (low >> 32) + (cross & 0xffffffff) + (other & 0xffffffff);
  u64 high = (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32) + (middle >> 32);
  low = (middle << 32) | (low & 0xffffffff);
  if (high >= c) return ~0UL;
  u64 quotient = 0;
#pragma clang loop unroll(disable)
  for (u64 bit = 0; bit < 64; bit++) {
    u64 carry = high >> 63;
    high = (high << 1) | (low >> 63);
    low <<= 1;
    quotient <<= 1;
    if (carry || high >= c) { high -= c; quotient |= 1; }
  }
  return isUp && high != 0 && quotient != ~0UL ? quotient + 1 : quotient;
}

INLINE u64 move(Account *program, Account *from, Account *to, Account *authority, u64 amountRaw, const Signer *signer) {
  Scratch *heap = HEAP;
  heap->passed[0] = *from;
  heap->passed[1] = *to;
  heap->passed[2] = *authority;
  heap->passed[3] = *program;
  heap->metas[0] = (Meta){ from->key, 1, 0 };
  heap->metas[1] = (Meta){ to->key, 1, 0 };
  heap->metas[2] = (Meta){ authority->key, 0, 1 };
  /* TokenInstruction::Transfer */
  heap->data.bytes[0] = 3;
  for (u64 index = 0; index < 8; index++) heap->data.bytes[1 + index] = (u8)(amountRaw >> (8 * index));
  heap->instruction = (Instruction){ program->key, heap->metas, 3, heap->data.bytes, 9 };
  return sol_invoke_signed_c(&heap->instruction, heap->passed, 4, signer, signer ? 1 : 0);
}

INLINE Signer *signerOf(Account *account, Pool *pool) {
  Scratch *heap = HEAP;
  heap->seeds[0] = (Seed){ account->key, 32 };
  heap->seeds[1] = (Seed){ &pool->bump, 1 };
  heap->signer = (Signer){ heap->seeds, 2 };
  return &heap->signer;
}

/* Accounts: the pool, its authority, its two vaults. Data: 0, the fee in basis points, the authority's bump, 8 bytes each. */
INLINE u64 initialize(Account *accounts, const u64 *data, const Key *program) {
  Account *account = &accounts[0];
  Pool *pool = (Pool *)account->data;
  if (!same(account->owner, program) || account->size != sizeof(Pool) || pool->tag != 0) return NOT_A_POOL;
  if (data[1] >= 10000) return BAD_FEE;
  pool->tag = TAG;
  pool->feeBasisPoints = data[1];
  pool->bump = data[2] & 0xff;
  Signer *signer = signerOf(account, pool);
  if (sol_create_program_address(signer->seeds, signer->length, program, &HEAP->made) != 0) return NOT_ITS_ACCOUNT;
  if (!same(&HEAP->made, accounts[1].key)) return NOT_ITS_ACCOUNT;
  for (u64 index = 0; index < 2; index++) {
    Token *vault = (Token *)accounts[2 + index].data;
    if (accounts[2 + index].size < sizeof(Token) || !same(&vault->owner, accounts[1].key)) return NOT_ITS_ACCOUNT;
    pool->vaults[index] = *accounts[2 + index].key;
    pool->mints[index] = vault->mint;
  }
  return 0;
}

/*
 * Accounts: the pool, its authority, who trades, their account of what is paid and of what is got, the vaults of the two, the Token
 * program. Data: 1, what is paid, the least that is got; or 2, what is got, the most that is paid. The fee stays in the pool.
 */
INLINE u64 swap(Account *accounts, const u64 *data, const Key *program) {
  Account *vaultIn = &accounts[5], *vaultOut = &accounts[6];
  Pool *pool = (Pool *)accounts[0].data;
  if (!same(accounts[0].owner, program) || accounts[0].size != sizeof(Pool) || pool->tag != TAG) return NOT_A_POOL;
  if (!accounts[2].isSigner) return NOT_SIGNED;
  int isForward = same(&pool->vaults[0], vaultIn->key) && same(&pool->vaults[1], vaultOut->key);
  int isBackward = same(&pool->vaults[1], vaultIn->key) && same(&pool->vaults[0], vaultOut->key);
  if (!isForward && !isBackward) return NOT_ITS_ACCOUNT;
  /* Whoever is called on the pool's behalf could take all that it has. */
  if (!same(accounts[7].key, vaultIn->owner) || !same(accounts[7].key, vaultOut->owner)) return NOT_ITS_ACCOUNT;

  u64 reserveIn = ((Token *)vaultIn->data)->amountRaw, reserveOut = ((Token *)vaultOut->data)->amountRaw;
  u64 fee = pool->feeBasisPoints, paid, got;
  if (data[0] == 1) {
    paid = data[1];
    u64 traded = paid - share(paid, fee, 10000, 1);
    if (reserveIn + traded < reserveIn) return TOO_LARGE;
    if (traded == 0) return NOTHING;
    got = share(traded, reserveOut, reserveIn + traded, 0);
    if (got < data[2]) return OVER_LIMIT;
  } else {
    got = data[1];
    if (got >= reserveOut) return TOO_LARGE;
    u64 traded = share(reserveIn, got, reserveOut - got, 1);
    paid = share(traded, 10000, 10000 - fee, 1);
    if (traded == ~0UL || paid == ~0UL) return TOO_LARGE;
    if (paid > data[2]) return OVER_LIMIT;
  }
  if (got == 0 || paid == 0) return NOTHING;

  u64 failed = move(&accounts[7], &accounts[3], vaultIn, &accounts[2], paid, 0);
  if (failed) return failed;
  failed = move(&accounts[7], vaultOut, &accounts[4], &accounts[1], got, signerOf(&accounts[0], pool));
  if (failed) return failed;
  HEAP->amounts[0] = paid;
  HEAP->amounts[1] = got;
  sol_set_return_data(HEAP->amounts, sizeof(HEAP->amounts));
  return 0;
}

u64 entrypoint(u8 *input) {
  u64 length = *(u64 *)input;
  if (length > MOST_ACCOUNTS) return TOO_FEW_ACCOUNTS;
  u8 *rest = readAccounts(input, length);
  u64 size = *(u64 *)rest;
  const u64 *data = (const u64 *)(rest + 8);
  const Key *program = (const Key *)(rest + 8 + size);
  if (size != 24) return NO_SUCH_INSTRUCTION;
  if (data[0] == 0) return length < 4 ? TOO_FEW_ACCOUNTS : initialize(HEAP->accounts, data, program);
  if (data[0] > 2) return NO_SUCH_INSTRUCTION;
  return length < 8 ? TOO_FEW_ACCOUNTS : swap(HEAP->accounts, data, program);
}
