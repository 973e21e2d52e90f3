// Command oracle reads files as kubectl does, one after another, for tests that compare.
//
// On standard input each file is its length in decimal, a newline and its bytes. For each one line of JSON is
// written: {"documents": [...], "error": "..."}, the documents before the first broken one and what was said
// of that; null documents are left out, as kubectl leaves them out.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// sniffed is how many bytes kubectl looks at to tell JSON from YAML.
const sniffed = 4096

type answer struct {
	Documents []any  `json:"documents"`
	Error     string `json:"error,omitempty"`
}

// read does what FileVisitor and StreamVisitor of k8s.io/cli-runtime do with a file.
func read(data []byte) answer {
	text := transform.NewReader(bytes.NewReader(data), unicode.BOMOverride(unicode.UTF8.NewDecoder()))
	decoder := kubeyaml.NewYAMLOrJSONDecoder(text, sniffed)
	found := answer{Documents: []any{}}
	for {
		raw, err := next(decoder)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err == nil && (len(raw) == 0 || bytes.Equal(raw, []byte("null"))) {
			continue
		}
		var value any
		if err == nil {
			value, err = parse(raw)
		}
		if err != nil {
			found.Error = err.Error()
			return found
		}
		found.Documents = append(found.Documents, value)
	}
}

// next is the next document as JSON. A panic of the YAML library ends kubectl, so it counts as an error.
func next(decoder *kubeyaml.YAMLOrJSONDecoder) (raw json.RawMessage, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			err = fmt.Errorf("panic: %v", trouble)
		}
	}()
	err = decoder.Decode(&raw)
	return bytes.TrimSpace(raw), err
}

// parse makes int64 of whole numbers that fit and float64 of all others, as Unstructured does.
func parse(raw json.RawMessage) (value any, err error) {
	err = kubejson.Unmarshal(raw, &value)
	return value, err
}

func serve(in *bufio.Reader, out *bufio.Writer) error {
	replies := json.NewEncoder(out)
	for {
		var size int
		if _, err := fmt.Fscanf(in, "%d\n", &size); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		if err := replies.Encode(read(data)); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func main() {
	if err := serve(bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)); err != nil {
		log.Fatal(err)
	}
}
