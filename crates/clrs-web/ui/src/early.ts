// The script at the top of a served page.

import { prefetch } from "./app/early.ts";
import { parseState } from "./app/state.ts";

prefetch(parseState(location.hash));
