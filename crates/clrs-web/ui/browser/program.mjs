// The program `clrs`, as its users start it.

import { spawn } from "node:child_process";

const PROGRAM = process.env.CLRS ?? "clrs";

/** Starts a command of the program. */
export function start(args) {
  return spawn(PROGRAM, args, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Runs a command of the program to its end. */
export async function run(args) {
  const child = start(args);
  child.stdout.resume();
  const code = await new Promise((resolve, reject) => child.on("exit", resolve).on("error", reject));
  if (code !== 0) {
    throw new Error(`clrs ${args.join(" ")} ended with ${code}`);
  }
}

const SMALL = ["processor=mpnn", "hidden=16", "lengths=4,7", "batch_size=4", "val_samples=8", "eval_every=5"];

/** Arguments that train a small network into a folder. */
export function trainArguments(folder, overrides) {
  return ["train", "--quiet", "--out", folder, ...[...SMALL, ...overrides].flatMap((field) => ["--set", field])];
}

export async function train(folder, overrides) {
  await run(trainArguments(folder, overrides));
}

/** Starts `clrs serve` on a free port. */
export async function serve(args = []) {
  const server = start(["serve", "--port", "0", ...args]);
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const base = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const url = /http:\/\/\S+/.exec(text);
      if (url) {
        resolve(url[0]);
      }
    });
    server.on("exit", (code) => reject(new Error(`clrs serve ended with ${code}`)));
    server.on("error", reject);
  });
  const stop = async () => {
    server.kill("SIGTERM");
    await ended;
  };
  return { base, pid: server.pid, stop };
}
