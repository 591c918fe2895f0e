/**
 * Keccak-256 with the original padding of Keccak, which SHA3-256 does not have. Neither libsodium nor
 * OpenSSL as Node offers it has this hash, and in JavaScript it is ten times slower.
 */
import { Assembler } from './wasm/assembler.ts';
import { compile, createInstance, createPlaces } from './wasm/instance.ts';
import {
  CONSTANTS_BYTES,
  defineKeccak,
  RATE_BYTES,
  roundConstants,
  STATE_BYTES,
} from './wasm/keccak.ts';

const DIGEST_BYTES = 32;
/** Blocks that one call takes in, so that the memory is small whatever the size of a message. */
const BUFFER_BLOCKS = 60;
const BUFFER_BYTES = BUFFER_BLOCKS * RATE_BYTES;

const layout = createPlaces();
const places = {
  constants: layout.take(CONSTANTS_BYTES),
  state: layout.take(STATE_BYTES),
  other: layout.take(STATE_BYTES),
  buffer: layout.take(BUFFER_BYTES),
};
const { state, buffer } = places;

type Keccak256 = (message: Uint8Array) => Uint8Array;

let compiled: WebAssemblyModule | undefined;

function compileKeccak(): WebAssemblyModule {
  const module = new Assembler();
  defineKeccak(module, places);
  return compile(module);
}

/** A hash with a memory of its own. Its state and its buffer are 0 between two messages. */
export function createKeccak256(): Keccak256 {
  compiled ??= compileKeccak();
  const { run, memory } = createInstance<{ absorb(data: number, blocks: number): void }>(
    compiled,
    buffer + BUFFER_BYTES,
  );
  const bytes = new Uint8Array(memory);
  bytes.set(new Uint8Array(roundConstants().buffer), places.constants);

  return (message) => {
    let from = 0;
    for (; message.length - from >= BUFFER_BYTES; from += BUFFER_BYTES) {
      bytes.set(message.subarray(from, from + BUFFER_BYTES), buffer);
      run.absorb(buffer, BUFFER_BLOCKS);
    }
    const rest = buffer + message.length - from;
    const blocks = Math.floor((message.length - from) / RATE_BYTES) + 1;
    const end = buffer + blocks * RATE_BYTES;
    bytes.set(from === 0 ? message : message.subarray(from), buffer);
    bytes.fill(0, rest, end);
    bytes[rest]! |= 0x01;
    bytes[end - 1]! |= 0x80;
    run.absorb(buffer, blocks);
    const digest = bytes.slice(state, state + DIGEST_BYTES);
    // The message may have held a key.
    bytes.fill(0, state, from === 0 ? end : buffer + BUFFER_BYTES);
    return digest;
  };
}

let shared: Keccak256 | undefined;

/**
 * The module is made for the first message of a thread; many commands hash nothing. Who cannot do without calls
 * `prepareKeccak256` first: where there is no memory for it, that throws RangeError.
 */
export const keccak256 = (message: Uint8Array): Uint8Array => prepareKeccak256()(message);

export function prepareKeccak256(): Keccak256 {
  shared ??= createKeccak256();
  return shared;
}
