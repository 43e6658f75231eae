// The script at the top of a served page.

import { askEarly } from "./app/early.ts";
import { parseState } from "./app/state.ts";

askEarly(parseState(location.hash));
