/**
 * How the node talks with the program inside a container: by exec or by gRPC.
 *
 * The owner of the containers fetches images, creates, starts, times and removes
 * containers. An interface says what a container needs to reach the node, and runs calls in it. It
 * needs no clock for the time limits of calls and of the start: the signals that it gets abort then.
 */
import type {
  ContractExecution,
  ContractImage,
  ContractOutcome,
} from '../../base/ports/containers.ts';

export interface ContainerInterface {
  /** True where containers reach the node over TCP, so that they need a network of their own. */
  readonly needsNetwork: boolean;
  /** Called before a container is created, once for each container. */
  open(of: ContainerIdentity): Promise<ContainerSession>;
  /** Called after all sessions are closed. */
  close(): Promise<void>;
}

export interface ContainerIdentity {
  /** 16 hexadecimal digits, the same for all containers of an image. */
  readonly connectionId: string;
  readonly image: ContractImage;
  /** Undefined: it has none. */
  readonly network: ContainerNetwork | undefined;
}

/** A network that was made for one container. */
export interface ContainerNetwork {
  /** The address of this machine in it. */
  readonly gateway: string;
  /** False for the address of a gateway that translates those of several containers. */
  includes(address: string): boolean;
}

/** What is added to the definition of a container. */
export interface ContainerSetup {
  readonly env: Readonly<Record<string, string>>;
  /** Folders that the container sees read-only. */
  readonly mounts: readonly { readonly source: string; readonly target: string }[];
}

/** One container, from before its creation until after its removal. */
export interface ContainerSession {
  readonly setup: ContainerSetup;
  /**
   * Called once, when the container runs. Resolves when a call may begin; rejects when the signal
   * aborts before.
   */
  ready(containerId: string, signal: AbortSignal): Promise<void>;
  /**
   * Runs one call. Rejects where the container or the engine fails, and when the signal aborts; the
   * owner then removes the container and words the failure. Nothing that the container sends for
   * this call counts afterwards.
   */
  run(execution: ContractExecution, signal: AbortSignal): Promise<ContractOutcome>;
  /** Resolves when the container can run no more calls, because it ended. Never rejects. */
  readonly ended: Promise<void>;
  /** Called once, also where the container never started. Runs that last reject. */
  close(): Promise<void>;
}
