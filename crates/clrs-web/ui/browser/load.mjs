// Mixed load for a while: no request fails, and memory does not grow.

import { readFileSync } from "node:fs";
import { request as send } from "node:http";
import { assert } from "./chromium.mjs";

const CLIENTS = 24;
/** Requests before memory counts. */
const WARM_UP = 2000;
const ALGORITHMS = ["bfs", "dijkstra", "quicksort", "lcs_length", "graham_scan", "floyd_warshall", "kmp_matcher", "task_scheduling"];

/** What clients ask for, by number, and the status they expect. */
function question(number) {
  const algorithm = ALGORITHMS[number % ALGORITHMS.length];
  switch (number % 11) {
    case 0:
      return { path: "/" };
    case 1:
      return { path: "/api/info" };
    case 2:
      return { path: `/api/algorithms/${algorithm}` };
    case 3:
      return { path: "/api/training" };
    case 4:
      return { path: `/api/network/sample?algorithm=bfs&size=8&count=4&sample=${number % 4}&seed=${number % 50}` };
    case 5:
      return { path: "/api/trace", body: JSON.stringify({ algorithm: "insertion_sort", problem: { key: [5, 2, 4, number % 9] } }) };
    case 6:
      return { path: "/api/trace", body: '{"algorithm": "bfs", "problem": [[', status: 400 };
    case 7:
      return { path: "/api/../../etc/passwd", status: 404 };
    default:
      return { path: `/api/trace?algorithm=${algorithm}&size=${4 + (number % 29)}&seed=${number}` };
  }
}

export async function load({ base, pid }, minutes) {
  const { hostname, port } = new URL(base);
  const [failures, samples] = [[], []];
  let count = 0;
  const ask = (number) =>
    new Promise((resolve) => {
      const { path, body, status = 200 } = question(number);
      // Every hundredth client leaves before the answer.
      const leaves = number % 100 === 99;
      let [answer, failure] = [null, null];
      const request = send({ hostname, port, path, method: body ? "POST" : "GET", headers: { "accept-encoding": "gzip" } }, (response) => {
        answer = response;
        response.resume();
      });
      request.on("error", (error) => (failure = error));
      // The only event of a connection that ends amid the answer.
      request.on("close", () => {
        if (answer?.complete) {
          failure = answer.statusCode === status ? null : answer.statusCode;
        } else {
          failure = leaves ? null : (failure ?? "incomplete answer");
        }
        if (failure !== null) {
          failures.push(`${path}: ${failure}`);
        }
        resolve();
      });
      request.end(body);
      if (leaves) {
        setTimeout(() => request.destroy(), 1);
      }
    });
  const client = async (isOver) => {
    while (!isOver()) {
      await ask(count++);
    }
  };
  const clients = (isOver) => Promise.all(Array.from({ length: CLIENTS }, () => client(isOver)));
  // Fills caches and heaps of threads, however slow the machine is.
  await clients(() => count >= WARM_UP);
  const end = performance.now() + minutes * 60_000;
  const work = clients(() => performance.now() >= end);
  let isOver = false;
  void work.then(() => (isOver = true));
  while (!isOver) {
    samples.push(residentMegabytes(pid));
    await Promise.race([work, new Promise((resolve) => setTimeout(resolve, minutes * 60_000 / 40))]);
  }
  assert(failures.length === 0, `${failures.length} of ${count} requests failed: ${[...new Set(failures)].slice(0, 5).join("; ")}`);
  // In a long test, the first quarter is warm-up, too.
  const quarter = (index) => Math.max(...samples.slice(Math.floor((samples.length * index) / 4), Math.ceil((samples.length * (index + 1)) / 4)));
  const [early, late] = [quarter(1), quarter(3)];
  if (early > 0) {
    assert(late < 1.25 * early + 20, `memory grows from ${early} to ${late} MB`);
  }
  return `${count - WARM_UP} requests in ${minutes} minutes, ${CLIENTS} at once; memory ${samples[0]} MB at the start, at most ${early} MB in the second quarter, ${late} MB in the last`;
}

/** Memory of a process; 0 where the system does not say. */
function residentMegabytes(pid) {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024);
  } catch {
    return 0;
  }
}
