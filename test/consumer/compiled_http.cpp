// SPDX-License-Identifier: Apache-2.0
// What a user of the compiled form adds to a program that uses the headers for HTTP.
#include <elasticjob/src_http.hpp>
