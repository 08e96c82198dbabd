/**
 * The contracts that a Tron transaction can carry: one row per type we read, with its number and its message. A type
 * without a row is refused, since a policy could not see what it does.
 */
import {
  bool,
  bytes,
  inner,
  int32,
  int64,
  message,
  type ProtobufKind,
  type ProtobufMessage,
  repeated,
  singular,
  text,
  word,
} from "../encoding/protobuf.ts";
import { unparsable } from "./strict_parsing.ts";

/** 0x41 and twenty bytes. A field of this kind cannot be left out. */
const address: ProtobufKind<Uint8Array> = {
  wire: 2,
  read(content) {
    const value = bytes.read(content);
    if (value.length !== 21 || value[0] !== 0x41) throw unparsable("an address is missing or misshapen");
    return value;
  },
  write: (value) => value,
};

/** An address that may be left out; then it is empty. */
const optionalAddress: ProtobufKind<Uint8Array> = {
  ...address,
  read: (content) => (bytes.read(content).length === 0 ? bytes.read(content) : address.read(content)),
};

const owner = { ownerAddress: singular(1, address) };
const resource = word(["BANDWIDTH", "ENERGY", "TRON_POWER"]);

const permission = message({
  type: singular(1, word(["Owner", "Witness", "Active"])),
  id: singular(2, int32),
  permissionName: singular(3, text),
  threshold: singular(4, int64),
  parentId: singular(5, int32),
  /** One bit per contract type that the permission covers. */
  operations: singular(6, bytes),
  keys: repeated(7, message({ address: singular(1, address), weight: singular(2, int64) })),
});

const abiParameter = message({ indexed: singular(1, bool), name: singular(2, text), type: singular(3, text) });

const abi = message({
  entries: repeated(
    1,
    message({
      anonymous: singular(1, bool),
      constant: singular(2, bool),
      name: singular(3, text),
      inputs: repeated(4, abiParameter),
      outputs: repeated(5, abiParameter),
      type: singular(6, int32),
      payable: singular(7, bool),
      stateMutability: singular(8, int32),
    }),
  ),
});

const smartContract = message({
  originAddress: singular(1, address),
  contractAddress: singular(2, optionalAddress),
  abi: inner(3, abi),
  bytecode: singular(4, bytes),
  callValue: singular(5, int64),
  consumeUserResourcePercent: singular(6, int64),
  name: singular(7, text),
  originEnergyLimit: singular(8, int64),
});

/** The names are the chain's, which policies use too. */
export const tronContracts = {
  AccountCreateContract: {
    number: 0,
    message: message({ ...owner, accountAddress: singular(2, address), type: singular(3, int32) }),
  },
  TransferContract: {
    number: 1,
    message: message({ ...owner, toAddress: singular(2, address), amount: singular(3, int64) }),
  },
  TransferAssetContract: {
    number: 2,
    message: message({
      assetName: singular(1, bytes),
      ownerAddress: singular(2, address),
      toAddress: singular(3, address),
      amount: singular(4, int64),
    }),
  },
  VoteWitnessContract: {
    number: 4,
    message: message({
      ...owner,
      votes: repeated(2, message({ voteAddress: singular(1, address), voteCount: singular(2, int64) })),
      support: singular(3, bool),
    }),
  },
  AccountUpdateContract: {
    number: 10,
    message: message({ accountName: singular(1, bytes), ownerAddress: singular(2, address) }),
  },
  FreezeBalanceContract: {
    number: 11,
    message: message({
      ...owner,
      frozenBalance: singular(2, int64),
      frozenDuration: singular(3, int64),
      resource: singular(10, resource),
      receiverAddress: singular(15, optionalAddress),
    }),
  },
  UnfreezeBalanceContract: {
    number: 12,
    message: message({ ...owner, resource: singular(10, resource), receiverAddress: singular(15, optionalAddress) }),
  },
  WithdrawBalanceContract: { number: 13, message: message(owner) },
  SetAccountIdContract: {
    number: 19,
    message: message({ accountId: singular(1, bytes), ownerAddress: singular(2, address) }),
  },
  CreateSmartContract: {
    number: 30,
    message: message({
      ...owner,
      newContract: inner(2, smartContract),
      callTokenValue: singular(3, int64),
      tokenId: singular(4, int64),
    }),
  },
  TriggerSmartContract: {
    number: 31,
    message: message({
      ...owner,
      contractAddress: singular(2, address),
      callValue: singular(3, int64),
      data: singular(4, bytes),
      callTokenValue: singular(5, int64),
      tokenId: singular(6, int64),
    }),
  },
  UpdateSettingContract: {
    number: 33,
    message: message({
      ...owner,
      contractAddress: singular(2, address),
      consumeUserResourcePercent: singular(3, int64),
    }),
  },
  UpdateEnergyLimitContract: {
    number: 45,
    message: message({ ...owner, contractAddress: singular(2, address), originEnergyLimit: singular(3, int64) }),
  },
  AccountPermissionUpdateContract: {
    number: 46,
    message: message({
      ...owner,
      owner: inner(2, permission),
      witness: inner(3, permission),
      actives: repeated(4, permission),
    }),
  },
  ClearABIContract: { number: 48, message: message({ ...owner, contractAddress: singular(2, address) }) },
  UpdateBrokerageContract: { number: 49, message: message({ ...owner, brokerage: singular(2, int32) }) },
  FreezeBalanceV2Contract: {
    number: 54,
    message: message({ ...owner, frozenBalance: singular(2, int64), resource: singular(3, resource) }),
  },
  UnfreezeBalanceV2Contract: {
    number: 55,
    message: message({ ...owner, unfreezeBalance: singular(2, int64), resource: singular(3, resource) }),
  },
  WithdrawExpireUnfreezeContract: { number: 56, message: message(owner) },
  DelegateResourceContract: {
    number: 57,
    message: message({
      ...owner,
      resource: singular(2, resource),
      balance: singular(3, int64),
      receiverAddress: singular(4, address),
      lock: singular(5, bool),
      lockPeriod: singular(6, int64),
    }),
  },
  UnDelegateResourceContract: {
    number: 58,
    message: message({
      ...owner,
      resource: singular(2, resource),
      balance: singular(3, int64),
      receiverAddress: singular(4, address),
    }),
  },
  CancelAllUnfreezeV2Contract: { number: 59, message: message(owner) },
} as const satisfies Record<string, TronContractRow>;

type TronContractRow = { number: number; message: ProtobufMessage<unknown> };

export type TronContractType = keyof typeof tronContracts;

/** What a contract of this type says. Addresses are the 21 bytes of the wire. */
export type TronContractValue<T extends TronContractType> = ReturnType<(typeof tronContracts)[T]["message"]["read"]>;
